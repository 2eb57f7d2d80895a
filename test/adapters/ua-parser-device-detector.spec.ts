import type { DeviceInfo } from '../../libs/auth/src/adapters/device-detector';
import { checkedDevice } from '../../libs/auth/src/adapters/device-detector';
import { UaParserDeviceDetector } from '../../libs/auth/src/adapters/ua-parser-device-detector';

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const IPAD = 'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

type Row = [userAgent: string, ...device: [DeviceInfo['deviceType'], os: string, browser: string, name: string]];

const ROWS: Row[] = [
  // Desktops
  [`${WINDOWS} Chrome/126.0.0.0 Safari/537.36`, 'desktop', 'Windows', 'Chrome', 'Other'],
  [`${WINDOWS} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.68`, 'desktop', 'Windows', 'Edge', 'Other'],
  [`${WINDOWS} Chrome/124.0.0.0 Safari/537.36 OPR/110.0.0.0`, 'desktop', 'Windows', 'Opera', 'Other'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
    'desktop',
    'Windows',
    'Firefox',
    'Other',
  ],
  [
    'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko',
    'desktop',
    'Windows',
    'Internet Explorer',
    'Other',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
    'desktop',
    'macOS',
    'Safari',
    'Mac',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0',
    'desktop',
    'macOS',
    'Firefox',
    'Mac',
  ],
  [
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
    'desktop',
    'Ubuntu',
    'Firefox',
    'Other',
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, 'desktop', 'Linux', 'Chrome', 'Other'],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`,
    'desktop',
    'Chrome OS',
    'Chrome',
    'Other',
  ],

  // Phones
  [
    `Mozilla/5.0 (Linux; Android 13; SM-G991B) ${WEBKIT} Chrome/112.0.0.0 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'Samsung SM-G991B',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S911B) ${WEBKIT} SamsungBrowser/21.0 Chrome/110.0.5481.154 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Samsung Internet',
    'Samsung SM-S911B',
  ],
  [
    `Mozilla/5.0 (Linux; Android 14; Pixel 7) ${WEBKIT} Chrome/124.0.6367.82 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'Google Pixel 7',
  ],
  [
    `Mozilla/5.0 (Linux; Android 14; Pixel 8 Pro) ${WEBKIT} Chrome/124.0.0.0 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'Google Pixel 8 Pro',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'Other',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36 EdgA/126.0.0.0`,
    'mobile',
    'Android',
    'Edge',
    'Other',
  ],
  [
    `Mozilla/5.0 (Linux; Android 11; Redmi Note 8 Pro) ${WEBKIT} Chrome/108.0.0.0 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'Xiaomi Redmi Note 8 Pro',
  ],
  [
    `Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) ${WEBKIT} Chrome/85.0.4183.81 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'CUBOT X18 Plus',
  ],
  [
    `Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) ${WEBKIT} Chrome/96.0.4664.45 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    'CUBOT NOTE 20',
  ],
  [
    'Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0',
    'mobile',
    'Android',
    'Firefox Mobile',
    'Other',
  ],
  [
    'Opera/9.80 (Android; Opera Mini/70.0/191.256; U; en) Presto/2.12.423 Version/12.16',
    'mobile',
    'Android',
    'Opera Mini',
    'Other',
  ],
  [`${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`, 'mobile', 'iOS', 'Mobile Safari', 'iPhone'],
  [`${IPHONE} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`, 'mobile', 'iOS', 'Chrome Mobile', 'iPhone'],
  [`${IPHONE} FxiOS/127.0 Mobile/15E148 Safari/605.1.15`, 'mobile', 'iOS', 'Firefox Mobile', 'iPhone'],

  // Tablets
  [`${IPAD} Version/17.5 Mobile/15E148 Safari/604.1`, 'tablet', 'iOS', 'Mobile Safari', 'iPad'],
  [`${IPAD} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`, 'tablet', 'iOS', 'Chrome Mobile', 'iPad'],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-X906C Build/TP1A.220624.014) ${WEBKIT} Chrome/110.0.5481.154 Safari/537.36`,
    'tablet',
    'Android',
    'Chrome Mobile',
    'Samsung SM-X906C',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`,
    'tablet',
    'Android',
    'Chrome Mobile',
    'Other',
  ],
  [
    `Mozilla/5.0 (Linux; Android 9; Lenovo YT-X705F) ${WEBKIT} Chrome/96.0.4664.45 Safari/537.36`,
    'tablet',
    'Android',
    'Chrome Mobile',
    'Lenovo YT-X705F',
  ],
  [
    'Mozilla/5.0 (Android 14; Tablet; rv:127.0) Gecko/127.0 Firefox/127.0',
    'tablet',
    'Android',
    'Firefox Mobile',
    'Other',
  ],

  // Browsers inside apps, and apps
  [
    `${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/462.0.0.39.108;FBBV/595431530;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS]`,
    'mobile',
    'iOS',
    'Facebook',
    'iPhone',
  ],
  [
    `${IPHONE} Mobile/15E148 Instagram 334.0.0.30.101 (iPhone14,5; iOS 17_5; en_US; en; scale=3.00; 1170x2532; 607362384)`,
    'mobile',
    'iOS',
    'Instagram',
    'iPhone',
  ],
  [`${IPHONE} Mobile/15E148`, 'mobile', 'iOS', 'Safari WebView', 'iPhone'],
  [
    `Mozilla/5.0 (Linux; Android 12; SM-G973F Build/SP1A.210812.016; wv) ${WEBKIT} Version/4.0 Chrome/125.0.6422.113 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome WebView',
    'Samsung SM-G973F',
  ],
  ['MyApp/3.1 (iPhone14,5; iOS 17.5.1; Scale/3.00)', 'mobile', 'iOS', 'Other', 'iPhone'],
  [
    'Dalvik/2.1.0 (Linux; U; Android 13; SM-A536B Build/TP1A.220624.014)',
    'mobile',
    'Android',
    'Other',
    'Samsung SM-A536B',
  ],

  // Bots
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'bot', 'Other', 'Googlebot', 'Other'],
  [
    `Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) ${WEBKIT} Chrome/125.0.6422.175 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
    'bot',
    'Android',
    'Googlebot',
    'Other',
  ],
  [
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/103.0.5060.134 Safari/537.36',
    'bot',
    'Other',
    'bingbot',
    'Other',
  ],
  [
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'bot',
    'Other',
    'facebookexternalhit',
    'Other',
  ],
  [
    'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
    'bot',
    'Other',
    'Yahoo! Slurp',
    'Other',
  ],
  [
    'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)',
    'bot',
    'Other',
    'Baiduspider',
    'Other',
  ],
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 'bot', 'Other', 'Slackbot', 'Other'],
  ['TelegramBot (like TwitterBot)', 'bot', 'Other', 'TelegramBot', 'Other'],

  // TVs, consoles, watches
  [
    `Mozilla/5.0 (Web0S; Linux/SmartTV) ${WEBKIT} Chrome/79.0.3945.79 Safari/537.36 DMOST/2.0.0 (; LGE; webOSTV; WEBOS6.3.2 03.34.95; W6_lm21a;)`,
    'other',
    'webOS',
    'Chrome',
    'LG webOSTV',
  ],
  [
    `Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) ${WEBKIT} SamsungBrowser/2.2 Chrome/63.0.3239.84 TV Safari/537.36`,
    'other',
    'Tizen',
    'Samsung Internet',
    'Samsung TV',
  ],
  [
    `Mozilla/5.0 (Linux; Android 9; AFTMM Build/PS7633; wv) ${WEBKIT} Version/4.0 Chrome/108.0.5359.220 Mobile Safari/537.36`,
    'other',
    'Android',
    'Chrome WebView',
    'Amazon Fire TV',
  ],
  [
    'Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15',
    'other',
    'PlayStation',
    'Other',
    'PlayStation 5',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox Series X) ${WEBKIT} Chrome/48.0.2564.82 Safari/537.36 Edge/20.02`,
    'other',
    'Xbox',
    'Edge',
    'Xbox',
  ],
  [
    `Mozilla/5.0 (Nintendo Switch; WebApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.3.16.4 NintendoBrowser/5.1.0.23285`,
    'other',
    'Nintendo',
    'Other',
    'Nintendo Switch',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-R900) ${WEBKIT} SamsungBrowser/19.0 Chrome/102 Mobile Safari/537.36`,
    'other',
    'Android',
    'Samsung Internet',
    'Samsung SM-R900',
  ],

  // Command-line clients and libraries
  ['curl/8.5.0', 'other', 'Other', 'curl', 'Other'],
  ['Wget/1.21.4 (linux-gnu)', 'other', 'Linux', 'Wget', 'Other'],
  ['HTTPie/3.2.2', 'other', 'Other', 'HTTPie', 'Other'],
  ['python-requests/2.31.0', 'other', 'Other', 'python-requests', 'Other'],
  ['okhttp/4.12.0', 'other', 'Other', 'okhttp', 'Other'],
  ['PostmanRuntime/7.39.0', 'other', 'Other', 'PostmanRuntime', 'Other'],
  ['Go-http-client/1.1', 'other', 'Other', 'Go-http-client', 'Other'],
  ['Dart/3.4 (dart:io)', 'other', 'Other', 'Dart', 'Other'],
  ['axios/1.7.2', 'other', 'Other', 'axios', 'Other'],
  ['node', 'other', 'Other', 'node', 'Other'],
  ['node-fetch/1.0 (+https://github.com/bitinn/node-fetch)', 'other', 'Other', 'node-fetch', 'Other'],
  [
    'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.4291',
    'other',
    'Windows',
    'WindowsPowerShell',
    'Other',
  ],

  // User agents without a known device, and names of object properties
  ['', 'other', 'Other', 'Other', 'Other'],
  ['Mozilla/5.0', 'other', 'Other', 'Other', 'Other'],
  ['curlicue/1.0', 'other', 'Other', 'Other', 'Other'],
  ['constructor', 'other', 'Other', 'Other', 'Other'],
  ['__proto__', 'other', 'Other', 'Other', 'Other'],
  [
    `Mozilla/5.0 (Linux; Android 10; __proto__) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`,
    'mobile',
    'Android',
    'Chrome Mobile',
    '__proto__',
  ],
];

const HOSTILE = [
  'toString',
  'hasOwnProperty/1.0',
  '\uD800'.repeat(500),
  '<script>alert(1)</script>',
  "' OR 1=1; --",
  '(((((((((('.repeat(50),
  'a-'.repeat(250),
  'cubot'.repeat(100),
  'maemo'.repeat(100),
  'droid version/'.repeat(35),
  `${'x'.repeat(490)}bot`,
  `Mozilla/5.0 (Linux; Android 10; ${'M'.repeat(300)}) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`,
  `Mozilla/5.0 (Linux; Android 10; constructor) ${WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36`,
];

function load(): UaParserDeviceDetector {
  const detector = UaParserDeviceDetector.load();
  if (!detector) throw new Error('ua-parser-js is not installed');
  return detector;
}

describe('UaParserDeviceDetector', () => {
  it.each(ROWS)('detects the device of %s', (userAgent, deviceType, osFamily, browserFamily, deviceName) => {
    expect(load().detect(userAgent)).toEqual({ deviceType, osFamily, browserFamily, deviceName });
  });

  it.each(HOSTILE)('returns names of at most 64 characters for the hostile user agent %j', (userAgent) => {
    for (const name of Object.values(checkedDevice(load().detect(userAgent)))) {
      expect(typeof name).toBe('string');
      expect(name.length).toBeGreaterThan(0);
      expect(name.length).toBeLessThanOrEqual(64);
    }
  });

  describe('load', () => {
    const missing = (id: string): Error =>
      Object.assign(new Error(`Cannot find module '${id}'\nRequire stack:\n- /app/main.js`), {
        code: 'MODULE_NOT_FOUND',
      });
    const failingWith = (error: Error) => (): never => {
      throw error;
    };

    it('returns null if ua-parser-js is not installed', () => {
      expect(UaParserDeviceDetector.load(failingWith(missing('ua-parser-js')))).toBeNull();
    });

    const NODE = { code: 'MODULE_NOT_FOUND' };
    const ISSUER = 'nestjs-session-auth tried to access';
    it.each([
      ["Yarn Plug'n'Play, undeclared", `Your application tried to access ua-parser-js, but it isn't declared`, NODE],
      ["Yarn Plug'n'Play, missing peer", `${ISSUER} ua-parser-js (a peer dependency) but it isn't provided`, NODE],
      [
        'the loader of ES modules',
        `Cannot find package 'ua-parser-js' imported from /x.js`,
        { code: 'ERR_MODULE_NOT_FOUND' },
      ],
      ['Jest', `Cannot find module 'ua-parser-js' from 'libs/x.js'`, NODE],
      ['esbuild', 'Could not resolve "ua-parser-js"', NODE],
    ])('returns null if ua-parser-js is absent, as %s reports it', (_, message, code) => {
      expect(UaParserDeviceDetector.load(failingWith(Object.assign(new Error(message), code)))).toBeNull();
    });

    it.each([
      ["Yarn Plug'n'Play", `ua-parser-js tried to access something-else, but it isn't declared`, NODE],
      [
        'ES modules',
        `Cannot find package 'x' imported from /node_modules/ua-parser-js/a.js`,
        { code: 'ERR_MODULE_NOT_FOUND' },
      ],
    ])('throws if a dependency of ua-parser-js is absent, as %s reports it', (_, message, code) => {
      const error = Object.assign(new Error(message), code);
      expect(() => UaParserDeviceDetector.load(failingWith(error))).toThrow(error);
    });

    it.each([
      ['another missing module', missing('something-else')],
      ['a damaged ua-parser-js', missing('/app/node_modules/ua-parser-js/src/ua-parser.js')],
      ['a bug in ua-parser-js', new Error('broken')],
    ])('rethrows the error of %s', (_, error) => {
      expect(() => UaParserDeviceDetector.load(failingWith(error))).toThrow(error);
    });
  });
});
