import { nestAdd, type NestAddOptions } from '../../libs/auth/src/schematics/nest-add';

const MANIFEST = JSON.stringify({ dependencies: { '@nestjs/core': '^11.0.1' } });

/** Returns a root module with these imports, whose elements are on separate lines. */
const moduleWith = (imports: string, head = ''): string =>
  `import { Module } from '@nestjs/common';\nimport { TypeOrmModule } from '@nestjs/typeorm';\n${head}\n` +
  `@Module({\n  imports: [\n    ${imports},\n  ],\n})\nexport class AppModule {}\n`;

/** Runs the schematic. Returns the changed files, without spaces at line ends, and what it prints. */
function add(
  files: Record<string, string>,
  options: NestAddOptions = { users: 'own' },
): { changed: Record<string, string>; all: Record<string, string>; printed: string } {
  const all: Record<string, string> = { 'package.json': MANIFEST, ...files };
  const changed: Record<string, string> = {};
  const printed: string[] = [];
  const namesIn = (path: string, isFolder: boolean): string[] => {
    const prefix = path === '.' ? '' : `${path}/`;
    const inside = Object.keys(all).filter((name) => name.startsWith(prefix));
    const parts = inside.map((name) => name.slice(prefix.length).split('/'));
    return [...new Set(parts.filter(({ length }) => length > 1 === isFolder).map(([first]) => first!))];
  };
  const tree = {
    read: (path: string) => all[path] ?? null,
    overwrite: (path: string, text: string) => void (changed[path] = all[path] = text),
    getDir: (path: string) => ({ subdirs: namesIn(path, true), subfiles: namesIn(path, false) }),
  };
  nestAdd(options)(tree, { logger: { info: (text) => void printed.push(text) } });
  return { changed, all, printed: printed.join('\n') };
}

const MODULE = 'src/app.module.ts';
const OPTIONS = "import { options } from './database.js';";
const forRoot = moduleWith("TypeOrmModule.forRoot({ type: 'postgres' })");

describe('nest add nestjs-session-auth', () => {
  it('nest add adds the module, the event emitter and the tables to a module with forRoot', () => {
    const { changed, printed } = add({ [MODULE]: forRoot });
    expect(changed[MODULE]).toBe(
      moduleWith(
        "TypeOrmModule.forRoot(withAuthTables({ type: 'postgres' })),\n    EventEmitterModule.forRoot(),\n    AuthModule.forRoot()",
        "import { EventEmitterModule } from '@nestjs/event-emitter';\n" +
          "import { AuthModule, withAuthTables } from 'nestjs-session-auth';\n",
      ),
    );
    expect(printed).toMatch(/changed\n {2}src\/app\.module\.ts\n {2}package\.json\n.*Left to do:\n.*npm install/s);
  });

  it.each([
    ['10', '^2.0.0'],
    ['11', '^3.0.0'],
    ['12', '^12.0.0'],
  ])('nest add adds the event emitter for Nest %s to package.json', (nest, range) => {
    const manifest = { name: 'shop', dependencies: { '@nestjs/core': `~${nest}.4.0`, 'class-validator': '^0.14.0' } };
    const { changed } = add({ [MODULE]: forRoot, 'package.json': JSON.stringify(manifest, null, 4) });
    const dependencies = { 'class-transformer': '^0.5.1', '@nestjs/event-emitter': range, ...manifest.dependencies };
    expect(JSON.parse(changed['package.json']!)).toEqual({ ...manifest, dependencies });
    expect(changed['package.json']).toContain('\n    "name"');
  });

  it.each<[string, string, Record<string, string>, string?]>([
    [
      'a factory',
      'TypeOrmModule.forRootAsync({ inject: [Config], useFactory: (c: Config) => ({ url: c.url }) })',
      { [MODULE]: 'useFactory: (c: Config) => withAuthTables({ url: c.url })' },
    ],
    [
      'a factory with several returns',
      "TypeOrmModule.forRootAsync({ useFactory: async () => { if (test) return { url: 'a' }; const f = () => { return 1; }; return { url: 'b' }; } })",
      {
        [MODULE]:
          "if (test) return withAuthTables({ url: 'a' }); const f = () => { return 1; }; return withAuthTables({ url: 'b' });",
      },
    ],
    [
      'a variable of a data-source file',
      'TypeOrmModule.forRoot({ ...options, autoLoadEntities: true })',
      {
        'src/database.ts':
          "options: DataSourceOptions = withAuthTables({ type: 'postgres' });\nexport default new DataSource(options);",
      },
      OPTIONS,
    ],
    ['a call', 'TypeOrmModule.forRoot(read())', { [MODULE]: 'TypeOrmModule.forRoot(withAuthTables(read()))' }],
    [
      'options of which only the module knows the entities',
      'TypeOrmModule.forRoot({ ...options, entities: [A] })',
      { [MODULE]: 'withAuthTables({ ...options, entities: [A] })', 'src/database.ts': 'withAuthTables({' },
      OPTIONS,
    ],
  ])(
    'nest add passes the options of TypeORM through withAuthTables if they are in %s',
    (_, imports, expected, ...head) => {
      const database =
        "import { DataSource, type DataSourceOptions } from 'typeorm';\n" +
        "export const options: DataSourceOptions = { type: 'postgres' };\nexport default new DataSource(options);\n";
      const { all } = add({ [MODULE]: moduleWith(imports, ...head), 'src/database.ts': database });
      for (const [path, part] of Object.entries(expected)) {
        expect(all[path]).toContain(part);
        expect(all[path]).toMatch(/import \{ .*withAuthTables \} from 'nestjs-session-auth';/);
      }
      for (const source of Object.values(all)) expect(source.split('withAuthTables(withAuthTables')).toHaveLength(1);
    },
  );

  it('nest add finds TypeORM in another module and a DataSource at the top of the project', () => {
    const { changed } = add({
      [MODULE]: "import { Module } from '@nestjs/common';\n@Module({ imports: [] })\nexport class AppModule {}\n",
      'src/database/database.module.ts': forRoot,
      'typeorm.config.ts':
        "import { DataSource } from 'typeorm';\nexport default new DataSource({ migrations: [] });\n",
      'src/feed.ts': "import { DataSource } from 'feeds';\nexport const feed = new DataSource({ url: 'a' });\n",
      'src/app.spec.ts': 'TypeOrmModule.forRoot({});\n',
    });
    expect(changed[MODULE]).toContain('imports: [EventEmitterModule.forRoot(), AuthModule.forRoot()]');
    expect(changed['src/database/database.module.ts']).toContain('withAuthTables({ type:');
    expect(changed['typeorm.config.ts']).toContain('new DataSource(withAuthTables({ migrations: [] }))');
    expect(changed).not.toHaveProperty(['src/app.spec.ts']);
    expect(changed).not.toHaveProperty(['src/feed.ts']);
  });

  it('nest add renames the imported module if the application has an AuthModule', () => {
    const own = "import { AuthModule } from './auth/auth.module';";
    const { changed } = add({ [MODULE]: moduleWith('AuthModule, TypeOrmModule.forRoot({})', own) });
    expect(changed[MODULE]).toMatch(
      /import \{ AuthModule as SessionAuthModule, withAuthTables \} from 'nestjs-session-auth'.*TypeOrmModule.*,\s+EventEmitterModule\.forRoot\(\),\s*SessionAuthModule\.forRoot\(\)/s,
    );
  });

  it('with --users=mapped, nest add leaves out the users table and prints how to map the users', () => {
    const { changed, printed } = add({ [MODULE]: forRoot }, { users: 'mapped' });
    expect(changed[MODULE]).toContain("withAuthTables({ type: 'postgres' }, { usersTable: false })");
    expect(printed).toContain('AuthModule.forRoot({ users: { entity: User,');
  });

  it.each(['own', 'mapped'] as const)('nest add --users=%s changes nothing the second time', (users) => {
    const { all } = add({ [MODULE]: forRoot }, { users });
    const again = add(all, { users });
    expect(again.changed).toEqual({});
    expect(again.printed).toContain('already added. Nothing changed.');
  });

  it.each<[string, Record<string, string>, string, NestAddOptions?]>([
    ['an unknown place of the users', { [MODULE]: forRoot }, '--users=own or --users=mapped', {}],
    ['no root module', { 'src/main.ts': '' }, 'there is no file src/app.module.ts'],
    ['no TypeORM', { [MODULE]: moduleWith('A') }, 'is called 0 times'],
    ['two databases', { [MODULE]: forRoot, 'src/b.ts': forRoot }, 'is called 2 times'],
    ['no options', { [MODULE]: moduleWith('TypeOrmModule.forRoot()') }, 'src/app.module.ts:6'],
    ['useClass', { [MODULE]: moduleWith('TypeOrmModule.forRootAsync({ useClass: A })') }, 'no useFactory'],
    [
      'a factory that returns a call',
      { [MODULE]: moduleWith('TypeOrmModule.forRootAsync({ useFactory: () => read() })') },
      'are not an object',
    ],
    [
      'computed imports',
      { [MODULE]: '@Module({ imports: all }) class A {} TypeOrmModule.forRoot({})' },
      'no single @M',
    ],
    ['a syntax error', { [MODULE]: `${forRoot}}}` }, 'has syntax errors'],
    ['Nest 9', { [MODULE]: forRoot, 'package.json': '{"dependencies":{"@nestjs/core":"9"}}' }, 'no supported'],
  ])('with %s, nest add changes nothing and prints the lines to add', (_, files, reason, ...options) => {
    const { changed, printed } = add(files, ...options);
    expect(changed).toEqual({});
    expect(printed).toContain(reason);
    expect(printed).toMatch(
      /by hand:.*npm install @nestjs\/event-emitter.*withAuthTables\(.*EventEmitterModule.forRoot\(\),/s,
    );
  });
});
