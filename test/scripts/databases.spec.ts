import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SCRIPTS = join(__dirname, '../../scripts');

/** Calls a function that a script exports. Scripts are ES modules, which Jest cannot import. */
function call(module: string, name: string, ...args: unknown[]): unknown {
  const url = JSON.stringify(pathToFileURL(join(SCRIPTS, module)));
  const code = `import { ${name} } from ${url}; console.log(JSON.stringify(${name}(...${JSON.stringify(args)})))`;
  const node = [process.execPath, ['--input-type=module', '--eval', code]] as const;
  return JSON.parse(execFileSync(...node, { encoding: 'utf8', stdio: 'pipe' }));
}

it('npm run databases does not stop another process that has the recorded process id', () => {
  const cache = mkdtempSync(join(tmpdir(), 'nsa-cache-'));
  const run = (command: string): string => {
    const env = { ...process.env, XDG_CACHE_HOME: cache };
    return spawnSync(process.execPath, [join(SCRIPTS, 'databases.mjs'), command, 'mysql9'], { env, encoding: 'utf8' })
      .stdout;
  };
  const pid = join(cache, 'nestjs-session-auth/databases/mysql9/pid');
  mkdirSync(dirname(pid), { recursive: true });
  writeFileSync(pid, `${process.pid}\n`);
  expect(run('status')).toBe('mysql9: not downloaded\n');
  expect(run('stop')).toBe('mysql9: was not running.\n');
  expect(existsSync(pid)).toBe(false);
  rmSync(cache, { recursive: true });
});

it.each([
  [
    'the one-line format',
    [
      '# deb http://commented.example/debian trixie main',
      'deb-src http://sources.example/debian trixie main',
      'deb [arch=amd64 signed-by=/etc/apt/keyrings/vendor.asc] https://vendor.example/apt stable main',
      'deb http://security.example/debian-security trixie-security main',
      'deb [arch=amd64] http://mirror.example/debian trixie main contrib # comment',
    ],
  ],
  [
    '.sources files',
    [
      ...['Types: deb', 'URIs: http://off.example/debian', 'Suites: trixie', 'Components: main', 'Enabled: no', ''],
      ...['Types: deb', 'URIs: https://vendor.example/apt', 'Suites: trixie', 'Components: main'],
      ...['Signed-By:', ' -----BEGIN PGP PUBLIC KEY BLOCK-----', ' .', ' mDMEYCQjIxYJKwYBBAHaRw8BAQdA', ''],
      ...['Types: deb deb-src', '# a comment', 'URIs: http://mirror.example/debian', 'Suites: trixie trixie-updates'],
      ...['Components: main', 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg'],
    ],
  ],
])('the Debian archive that is configured for apt is found in %s', (_, lines) => {
  const archive = call('databases/apt-sources.mjs', 'archiveIn', lines.join('\n'), 'trixie');
  expect(archive).toBe('http://mirror.example/debian');
});

it('the newest version of PostgreSQL is chosen by numbers', () => {
  const versions = ['17.10.0-beta.17', '18.9.0-beta.17', '18.10.0-beta.9', '18.10.0-beta.17', '19.0.0-beta.1'];
  expect(call('databases/postgres18.mjs', 'newestOf', versions, 18)).toBe('18.10.0-beta.17');
});
