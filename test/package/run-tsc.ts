import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Installation } from './installation';

/**
 * Compiles a folder with all declarations checked. Returns the other packages whose declarations contain
 * errors: applications ignore these with `skipLibCheck`.
 *
 * @throws if the application's code or the library's declarations contain an error
 */
export function runTsc(
  installation: Installation,
  compiler: string,
  folder: string,
  flags: readonly string[] = [],
): string[] {
  const tsc = join(installation.folder, 'node_modules', compiler, 'bin/tsc');
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false', ...flags], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = stdout.split('\n').filter((line) => /\berror TS\d+/.test(line));
  const ours = errors.filter((error) => !packageOf(error));
  if (ours.length > 0 || stderr || (status !== 0 && errors.length === 0)) {
    const version = installation.versionOf(compiler);
    throw new Error(`The application does not compile with TypeScript ${version}:\n${ours.join('\n')}${stderr}`);
  }
  return [...new Set(errors.map((error) => packageOf(error)!))];
}

/** Returns the package whose declaration contains the error, unless it is the library. */
function packageOf(error: string): string | undefined {
  const path = error.split('(')[0]!;
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
  return name?.startsWith('nestjs-session-auth') ? undefined : name;
}
