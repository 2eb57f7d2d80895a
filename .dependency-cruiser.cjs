/** The layers of the library: http -> services -> domain <- store, adapters. The composition root sees all of them. */
const lib = (folder) => `^libs/auth/src/${folder}/`;

const layer = (from, mayNot, why) => ({
  name: `${from}-stays-in-its-layer`,
  comment: why,
  severity: 'error',
  from: { path: lib(from), pathNot: '\\.spec\\.ts$' },
  to: { path: mayNot.map((folder) => (folder.includes('/') ? folder : lib(folder))) },
});

const npm = (name) => `node_modules/${name}/`;

module.exports = {
  forbidden: [
    {
      name: 'domain-imports-nothing-outside-itself',
      severity: 'error',
      from: { path: lib('domain'), pathNot: '\\.spec\\.ts$' },
      // A checksum needs no port.
      to: { pathNot: [lib('domain'), '^zlib$'] },
    },
    layer('services', ['http', 'store', 'adapters', npm('typeorm'), npm('@nestjs/typeorm')], 'No HTTP and no SQL.'),
    layer('http', ['store', 'adapters', npm('typeorm')], 'Controllers ask services.'),
    layer('store', ['http', 'services', 'adapters'], 'The store is called, and calls nobody.'),
    layer('adapters', ['http', 'services', 'store', npm('typeorm')], 'One outside thing each.'),
    {
      name: 'client-imports-nothing-outside-itself',
      comment: 'It is bundled for browsers.',
      severity: 'error',
      from: { path: '^libs/client/' },
      to: { pathNot: '^libs/client/src/' },
    },
    {
      name: 'server-knows-no-client',
      severity: 'error',
      from: { path: '^libs/auth/' },
      to: { path: '^libs/client/' },
    },
    {
      name: 'nothing-else-loads-node-sqlite',
      comment: 'Older Nodes do not have it.',
      severity: 'error',
      from: { path: '^libs/auth/src/', pathNot: lib('adapters/node-sqlite') },
      to: { path: lib('adapters/node-sqlite') },
    },
    {
      name: 'hosts-use-the-only-door',
      severity: 'error',
      from: { path: '^(apps|examples)/' },
      to: { path: '^libs/auth/src/', pathNot: '^libs/auth/src/((testing|adapters/node-sqlite)/)?index\\.ts$' },
    },
    {
      name: 'hosts-use-the-only-door-of-the-client',
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
