import { canonicalIp, networkOf } from '../../libs/auth/src/history/event-log';

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8::0001', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['1.2.3.4:80', '1.2.3.4'],
  ['[2001:DB8::0001]:443', '2001:db8::1'],
  ['[fe80::1%eth0]:443', 'fe80::1'],
  ['[::ffff:203.0.113.7]:65535', '203.0.113.7'],
])('the canonical form of the address %j is %j', (text, canonical) => {
  expect(canonicalIp(text)).toBe(canonical);
});

it.each([
  ...['999.1.1.1', '1.2.3', '1.2.3.4.', '01.2.3.4', '[1.2.3.4]:80', '1.2.3.4:', '1.2.3.4:http', '1.2.3.4:123456'],
  ...['[::1', '[::1]x', '[::1]:', ' 1.2.3.4', "')) OR 18=(SELECT 18 FROM PG_SLEEP(15))--", '', undefined],
])('the text %j is not an address', (text) => expect(canonicalIp(text)).toBeNull());

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('the address %s belongs to the network %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});
