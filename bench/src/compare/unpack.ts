import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/**
 * Unpacks a tarball of `npm pack` into a new folder, and returns the path of a tsconfig.json with which
 * `ApplicationProcess` runs this version instead of the sources. The dependencies of the version are those of the
 * repository, so that it shares the classes of Nest and TypeORM with the application.
 */
export function unpack(tarball: string, folder: string): string {
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', tarball, '-C', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: { paths: Record<string, string[]> };
  };
  const sources = Object.entries(compilerOptions.paths).map(([name, [path]]) => [name, [join(ROOT, path!)]]);
  const paths = {
    ...(Object.fromEntries(sources) as typeof compilerOptions.paths),
    'nestjs-session-auth': [join(folder, 'package/dist')],
    'nestjs-session-auth/testing': [join(folder, 'package/dist/testing')],
  };
  const project = join(folder, 'tsconfig.json');
  const config = { extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: { paths }, files: [] };
  writeFileSync(project, JSON.stringify(config));
  return project;
}
