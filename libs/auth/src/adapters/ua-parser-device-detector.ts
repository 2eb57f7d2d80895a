import type UAParser from 'ua-parser-js';
import { loadOptionalPeer } from '../base/optional-peer';
import { DeviceDetector, type DeviceInfo, type DeviceType } from './device-detector';

const OTHER = 'Other';

// Cubot is a brand of phones. The quantifiers are bounded, so that matching a hostile text takes linear time.
const BOT =
  /\b(?:(?:adsbot|storebot|mediapartners|feedfetcher|apis)-google|google-inspectiontool|googleother|facebookexternalhit|facebookcatalog|meta-externalagent|(?:chatgpt|claude|perplexity)-user|bingpreview|yahoo! slurp|ia_archiver|[\w.-]{0,30}(?:(?<!cu)bot|crawler|spider))\b|^whatsapp(?=\/)/i;

const CLIENT =
  /^(?:curl|wget|httpie|python-requests|python-httpx|python-urllib|python|aiohttp|okhttp|postmanruntime|insomnia|bruno-runtime|go-http-client|dart|axios|node-fetch|node-superagent|node|undici|got|deno|bun|java|apache-httpclient|guzzlehttp|libwww-perl|ruby|faraday|reqwest|k6)(?![\w-])|\b(?:windows)?powershell(?=\/)/i;

const DESKTOP = /\b(?:windows|macintosh|x11|cros)\b/i;

const TV = /\b(?:smart-?tv|web0s)\b/i;

const OS_FAMILIES = new Map([
  ['mac os', 'macOS'],
  ['chromium os', 'Chrome OS'],
  ['android', 'Android'],
  ['linux', 'Linux'],
  ['ubuntu', 'Ubuntu'],
  ['mint', 'Linux Mint'],
  ['arch', 'Arch Linux'],
]);

const BROWSER_FAMILIES = new Map([
  ['GSA', 'Google App'],
  ['IE', 'Internet Explorer'],
  ['UCBrowser', 'UC Browser'],
  ['Yandex', 'Yandex Browser'],
  ['WebKit', OTHER],
  ['Mozilla', OTHER],
]);

const MOBILE_BROWSER_FAMILIES = new Map([
  ['Chrome', 'Chrome Mobile'],
  ['Firefox', 'Firefox Mobile'],
  ['Safari', 'Mobile Safari'],
  ['WebKit', 'Safari WebView'],
]);

/** Detects devices with `ua-parser-js`, an optional peer dependency. */
export class UaParserDeviceDetector extends DeviceDetector {
  // Private, so that the published declarations do not contain the types of the optional dependency.
  private constructor(private readonly Parser: typeof UAParser) {
    super();
  }

  /** Returns null if `ua-parser-js` is not installed. @throws Error if loading it fails for another reason */
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail where it is not installed
  static load(requireParser: () => unknown = () => require('ua-parser-js')): UaParserDeviceDetector | null {
    const parser = loadOptionalPeer<typeof UAParser>('ua-parser-js', requireParser);
    return parser && new UaParserDeviceDetector(parser);
  }

  detect(userAgent: string): DeviceInfo {
    const parser = new this.Parser(userAgent);
    const { type, vendor, model } = parser.getDevice();
    const { name: os = OTHER } = parser.getOS();
    const osFamily = OS_FAMILIES.get(os.toLowerCase()) ?? os;
    const bot = BOT.exec(userAgent)?.[0];
    const client = bot ?? CLIENT.exec(userAgent)?.[0];
    const deviceType = client ? (bot ? 'bot' : 'other') : deviceTypeOf(userAgent, type, osFamily);
    return {
      deviceType,
      osFamily,
      browserFamily: client ?? browserFamilyOf(parser.getBrowser().name ?? OTHER, deviceType),
      // The User-Agent of a bot often contains a device that does not exist.
      deviceName: bot ? OTHER : deviceNameOf(type, vendor, model),
    };
  }
}

function deviceTypeOf(userAgent: string, type: string | undefined, osFamily: string): DeviceType {
  if (TV.test(userAgent)) return 'other';
  if (type === 'tablet') return 'tablet';
  if (type === 'mobile' || (!type && (osFamily === 'Android' || osFamily === 'iOS'))) {
    const isLarge = /\bChrome\//.test(userAgent) && !/\bMobile\b/.test(userAgent);
    return osFamily === 'Android' && isLarge ? 'tablet' : 'mobile';
  }
  return !type && DESKTOP.test(userAgent) ? 'desktop' : 'other';
}

function browserFamilyOf(name: string, deviceType: DeviceType): string {
  // TVs and consoles imitate Safari.
  if (deviceType === 'other' && name.endsWith('Safari')) return OTHER;
  const isMobile = deviceType === 'mobile' || deviceType === 'tablet';
  return (isMobile ? MOBILE_BROWSER_FAMILIES.get(name) : undefined) ?? BROWSER_FAMILIES.get(name) ?? name;
}

function deviceNameOf(type: string | undefined, vendor: string | undefined, model: string | undefined): string {
  // Chrome sends K instead of the model.
  if (!model || model === 'K') return type === 'smarttv' && vendor ? `${vendor} TV` : OTHER;
  if (type === 'smarttv' && vendor === 'Amazon') return 'Amazon Fire TV';
  if (model === 'Macintosh') return 'Mac';
  const name = model.replace(/^(iPhone|iPad|iPod)\d.*/, '$1').replace(/(?<=[a-z\d])_(?=[a-z\d])/gi, ' ');
  return withBrand(name.startsWith('Pixel') ? 'Google' : vendor, name);
}

function withBrand(brand: string | undefined, name: string): string {
  const isNameComplete = !brand || brand === 'Generic' || /^(?:iP|PlayStation|Xbox|Quest)/.test(name);
  return isNameComplete || name.toLowerCase().startsWith(brand.toLowerCase()) ? name : `${brand} ${name}`;
}
