const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Matches the address formats of some proxies: `192.0.2.1:1234`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]*:[^\]]*)\](?::\d{1,5})?)$/;

/**
 * Returns an IP address in canonical form, without port and zone id. Returns null if the text is not an IP address. An
 * IPv4-mapped IPv6 address becomes an IPv4 address.
 */
export function canonicalIp(text: string | null | undefined): string | null {
  if (!text) return null;
  const bare = text.replace(WITH_PORT, '$1$2').replace(/%.*$/s, '');
  if (IPV4.test(bare)) return bare;
  if (!/^[0-9a-fA-F:.]{2,45}$/.test(bare) || !bare.includes(':')) return null;
  // The URL parser writes IPv6 in the form of RFC 5952.
  if (!URL.canParse(`http://[${bare}]/`)) return null;
  const canonical = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const mapped = MAPPED.exec(canonical);
  if (!mapped) return canonical;
  const [high, low] = [parseInt(mapped[1]!, 16), parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Returns the network of a canonical address: the address itself for IPv4, and its /64 for IPv6. */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    groups.push(...Array<string>(8 - groups.length - last.length).fill('0'), ...last);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
