import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkedDevice } from '../../libs/auth/src/adapters/device-detector';
import { UaParserDeviceDetector } from '../../libs/auth/src/adapters/ua-parser-device-detector';

/** Each row contains the type, operating system, browser and name of a device, and its User-Agent. */
const ROWS = readFileSync(join(__dirname, 'user-agents.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(/ \| ?/));

const ANDROID = (model: string): string =>
  `Mozilla/5.0 (Linux; Android 10; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36`;

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
  ANDROID('M'.repeat(300)),
  ANDROID('constructor'),
];

const detector = UaParserDeviceDetector.load()!;

it.each(ROWS)('a %s with the system %s, the browser %s and the name %s is detected: %s', (...row) => {
  const [deviceType, osFamily, browserFamily, deviceName, userAgent] = row;
  expect(detector.detect(userAgent!)).toEqual({ deviceType, osFamily, browserFamily, deviceName });
});

it.each(HOSTILE)('returns names of at most 64 characters for the hostile user agent %j', (userAgent) => {
  for (const name of Object.values(checkedDevice(detector.detect(userAgent)))) {
    expect(typeof name).toBe('string');
    expect(name.length).toBeGreaterThan(0);
    expect(name.length).toBeLessThanOrEqual(64);
  }
});

describe('loading ua-parser-js', () => {
  const loadWith = (message: string, code?: string): UaParserDeviceDetector | null =>
    UaParserDeviceDetector.load(() => {
      throw Object.assign(new Error(message), { code });
    });
  const STACK = '\nRequire stack:\n- /app/main.js';
  const ISSUER = 'nestjs-session-auth tried to access';

  it.each([
    ['Node', `Cannot find module 'ua-parser-js'${STACK}`],
    ["Yarn Plug'n'Play, undeclared", `Your application tried to access ua-parser-js, but it isn't declared`],
    ["Yarn Plug'n'Play, missing peer", `${ISSUER} ua-parser-js (a peer dependency) but it isn't provided`],
    ['the loader of ES modules', `Cannot find package 'ua-parser-js' imported from /x.js`, 'ERR_MODULE_NOT_FOUND'],
    ['Jest', `Cannot find module 'ua-parser-js' from 'libs/x.js'`],
    ['esbuild', 'Could not resolve "ua-parser-js"'],
  ])('returns null if ua-parser-js is absent, as %s reports it', (_, message, code = 'MODULE_NOT_FOUND') => {
    expect(loadWith(message, code)).toBeNull();
  });

  const IMPORTER = '/node_modules/ua-parser-js/a.js';
  it.each([
    ['another missing module', `Cannot find module 'something-else'${STACK}`, 'MODULE_NOT_FOUND'],
    ['a missing dependency', `ua-parser-js tried to access something-else, but it isn't declared`, 'MODULE_NOT_FOUND'],
    ['a missing imported package', `Cannot find package 'x' imported from ${IMPORTER}`, 'ERR_MODULE_NOT_FOUND'],
    ['a damaged ua-parser-js', `Cannot find module '${IMPORTER}'${STACK}`, 'MODULE_NOT_FOUND'],
    ['a bug in ua-parser-js', 'broken', undefined],
  ])('throws the error of %s', (_, message, code) => {
    expect(() => loadWith(message, code)).toThrow(message);
  });
});
