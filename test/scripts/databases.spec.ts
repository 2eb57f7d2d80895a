import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SCRIPTS = join(__dirname, '../../scripts');

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
