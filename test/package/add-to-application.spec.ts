import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SQLITE_DRIVER } from '../support/sqlite';
import { packLibrary, type PackedLibrary } from './installation';
import { npmInstall, run, whileListening } from './run';

/** The driver as the workspace compiled it, because packages are installed without their install scripts. */
const DRIVER = SQLITE_DRIVER === 'better-sqlite3' ? [dirname(require.resolve('better-sqlite3/package.json'))] : [];
const OPTIONS = `type: 'better-sqlite3', database: ':memory:', synchronize: true`;
const TYPEORM = `TypeOrmModule.forRoot({ ${OPTIONS}${DRIVER.length > 0 ? '' : ', driver: NodeSqlite'} })`;

const MAIN = `
import { NestFactory } from '@nestjs/core';
import { AuthService } from 'nestjs-session-auth';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.get(AuthService).createUser({ username: 'alice', password: 'correct horse battery staple' });
  await app.listen(0, '127.0.0.1');
  console.log(\`listening \${await app.getUrl()}\`);
}
void bootstrap();
`;

describe('nest add with the packed library', () => {
  let work: string;
  let packed: PackedLibrary;

  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'nsa-add-'));
    packed = packLibrary(work);
  }, 120_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it.each(['11', '12'])(
    'nest add adds the library to a new application on Nest %s with TypeORM, which builds, and a user logs in',
    async (nest) => {
      const name = `shop-${nest}`;
      const folder = join(work, name);
      const flags = ['--skip-install', '--skip-git', '--package-manager', 'npm'];
      run('npx', ['--yes', `@nestjs/cli@${nest}`, 'new', name, ...flags], work);
      npmInstall(folder, '--prefer-offline', packed.auth.tarball, ...DRIVER, `@nestjs/typeorm@${nest}`, 'typeorm@1');
      const modulePath = join(folder, 'src/app.module.ts');
      const imports = `import { TypeOrmModule } from '@nestjs/typeorm';\nimport { NodeSqlite } from 'nestjs-session-auth/node-sqlite';\n`;
      const text = readFileSync(modulePath, 'utf8').replace('imports: []', `imports: [${TYPEORM}]`);
      writeFileSync(modulePath, imports + text);
      writeFileSync(join(folder, 'src/main.ts'), MAIN);

      const add = (): string =>
        run('npx', ['nest', 'add', 'nestjs-session-auth', '--skip-install', '--users=own'], folder);
      expect(add()).toMatch(/changed\s+src\/app\.module\.ts\s+package\.json/);
      expect(add()).toContain('Nothing changed.');
      npmInstall(folder, '--prefer-offline');
      run('npx', ['nest', 'build'], folder);
      const app = spawn(process.execPath, ['dist/main.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      await whileListening(app, /listening (\S+)/, async (url) => {
        const body = JSON.stringify({ username: 'alice', password: 'correct horse battery staple' });
        const headers = { 'content-type': 'application/json' };
        expect((await fetch(`${url}/auth/login/`, { method: 'POST', headers, body })).status).toBe(200);
      });
    },
    600_000,
  );
});
