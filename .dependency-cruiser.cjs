/**
 * The order of the library's folders. A file imports only from its own folder and from folders to the right of it.
 * `auth.service` and the files at the top, such as `auth.module`, count as folders.
 */
const ORDER = [
  'testing',
  'top',
  'http',
  'auth.service',
  'login',
  'accounts',
  'passwords',
  'retention',
  'sessions',
  'throttle',
  'users',
  'history',
  'tokens',
  'database',
  'options',
  'adapters',
  'base',
];

const FILES = { top: '(?!auth\\.service)[^/]+\\.m?ts$', 'auth.service': 'auth\\.service\\.ts$' };

const lib = (folder) => `^libs/auth/src/${FILES[folder] ?? `${folder}/`}`;

/** Forbids imports from a folder to the folders on its left. */
const order = ORDER.slice(1).map((folder, index) => ({
  name: `${folder}-imports-only-to-the-right`,
  severity: 'error',
  from: { path: lib(folder) },
  to: { path: ORDER.slice(0, index + 1).map(lib) },
}));

module.exports = {
  forbidden: [
    ...order,
    {
      name: 'every-folder-is-in-the-order',
      severity: 'error',
      from: { path: '^libs/auth/src/', pathNot: [...ORDER, 'node-sqlite', 'schematics'].map(lib) },
      to: {},
    },
    {
      name: 'no-cycles-between-folders',
      severity: 'error',
      scope: 'folder',
      from: { path: '^libs/auth/src/' },
      to: { circular: true },
    },
    {
      name: 'client-imports-nothing-outside-itself',
      comment: 'The client is bundled for browsers.',
      severity: 'error',
      from: { path: '^libs/client/', pathNot: '^libs/client/src/(react|vue)\\.ts$' },
      to: { pathNot: '^libs/client/src/' },
    },
    {
      name: 'bindings-import-only-their-framework',
      severity: 'error',
      from: { path: '^libs/client/src/(react|vue)\\.ts$' },
      to: { pathNot: ['^libs/client/src/', '^node_modules/(@types/)?$1/'] },
    },
    {
      name: 'client-does-not-import-its-bindings',
      comment: 'Frameworks are optional.',
      severity: 'error',
      from: { path: '^libs/client/src/' },
      to: { path: '^libs/client/src/(react|vue|svelte|query|testing)\\.ts$' },
    },
    {
      name: 'library-does-not-import-the-client',
      severity: 'error',
      from: { path: '^libs/auth/' },
      to: { path: '^libs/client/' },
    },
    {
      name: 'library-does-not-import-node-sqlite',
      comment: 'Versions of Node.js before 22.13 do not have `node:sqlite`.',
      severity: 'error',
      from: { path: '^libs/auth/src/', pathNot: lib('node-sqlite') },
      to: { path: lib('node-sqlite') },
    },
    {
      name: 'node-sqlite-imports-nothing-of-the-library',
      severity: 'error',
      from: { path: lib('node-sqlite') },
      to: { path: '^libs/auth/src/', pathNot: lib('node-sqlite') },
    },
    {
      name: 'schematics-import-nothing-of-the-library',
      comment: '`nest add` runs them before the peer dependencies are installed.',
      severity: 'error',
      from: { path: lib('schematics') },
      to: { path: '^libs/auth/src/', pathNot: lib('schematics') },
    },
    {
      name: 'library-does-not-import-schematics',
      severity: 'error',
      from: { path: '^libs/auth/src/', pathNot: lib('schematics') },
      to: { path: lib('schematics') },
    },
    {
      name: 'applications-import-only-entry-points',
      severity: 'error',
      from: { path: '^(apps|examples)/' },
      to: { path: '^libs/auth/src/', pathNot: '^libs/auth/src/((testing|node-sqlite)/)?index\\.ts$' },
    },
    {
      name: 'applications-import-only-the-entry-point-of-the-client',
      severity: 'error',
      from: { path: '^(apps|examples)/' },
      to: { path: '^libs/client/', pathNot: '^libs/client/src/(index|ssr|react|vue|svelte|query|testing)\\.ts$' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: ['\\.spec\\.ts$', '^libs/[^/]+/dist/'] },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
