/**
 * The layers of the library: http -> services -> domain <- store, adapters. The top-level files import all of
 * them.
 */
const lib = (folder) => `^libs/auth/src/${folder}/`;

const layer = (from, forbidden, comment) => ({
  name: `${from}-stays-in-its-layer`,
  comment,
  severity: 'error',
  from: { path: lib(from), pathNot: '\\.spec\\.ts$' },
  to: { path: forbidden.map((folder) => (folder.includes('/') ? folder : lib(folder))) },
});

const npm = (name) => `node_modules/${name}/`;

module.exports = {
  forbidden: [
    {
      name: 'domain-imports-nothing-outside-itself',
      severity: 'error',
      from: { path: lib('domain'), pathNot: '\\.spec\\.ts$' },
      // A checksum is deterministic, so `zlib` needs no port.
      to: { pathNot: [lib('domain'), '^zlib$'] },
    },
    layer(
      'services',
      ['http', 'store', 'adapters', npm('typeorm'), npm('@nestjs/typeorm')],
      'Services contain neither HTTP nor SQL.',
    ),
    layer(
      'http',
      ['store', 'adapters', npm('typeorm')],
      'The HTTP layer reaches the store and the adapters only through services.',
    ),
    layer(
      'store',
      ['http', 'services', 'adapters'],
      'The store implements ports of the domain, and does not call other layers.',
    ),
    layer(
      'adapters',
      ['http', 'services', 'store', npm('typeorm')],
      'Each adapter connects a port of the domain with one external API.',
    ),
    {
      name: 'client-imports-nothing-outside-itself',
      comment: 'The client is bundled for browsers.',
      severity: 'error',
      from: { path: '^libs/client/' },
      to: { pathNot: '^libs/client/src/' },
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
      from: { path: '^libs/auth/src/', pathNot: lib('adapters/node-sqlite') },
      to: { path: lib('adapters/node-sqlite') },
    },
    {
      name: 'applications-import-only-entry-points',
      severity: 'error',
      from: { path: '^(apps|examples)/' },
      to: { path: '^libs/auth/src/', pathNot: '^libs/auth/src/((testing|adapters/node-sqlite)/)?index\\.ts$' },
    },
    {
      name: 'applications-import-only-the-entry-point-of-the-client',
      severity: 'error',
      from: { path: '^(apps|examples)/' },
      to: { path: '^libs/client/', pathNot: '^libs/client/src/index\\.ts$' },
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
