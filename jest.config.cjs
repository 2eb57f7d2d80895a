const { availableParallelism } = require('node:os');

const typescript = {
  swcrc: false,
  sourceMaps: 'inline',
  module: { type: 'commonjs' },
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    keepClassNames: true,
  },
};
// Nest 12, `content-disposition` and Svelte are published as ES modules. Jest loads these only with a flag of Node.js, so
// they are compiled to CommonJS.
const modules = {
  swcrc: false,
  sourceMaps: false,
  module: { type: 'commonjs' },
  jsc: { parser: { syntax: 'ecmascript' }, target: 'es2022' },
};

module.exports = {
  testEnvironment: '<rootDir>/test/support/shared-environment.cjs',
  runtime: '<rootDir>/test/support/shared-packages.cjs',
  // By default, Jest leaves one core free, which on two cores doubles the time.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  reporters: ['default', '<rootDir>/test/support/slowest-files.cjs'],
  testSequencer: '<rootDir>/test/support/longest-first.cjs',
  testMatch: ['<rootDir>/libs/**/*.spec.ts', '<rootDir>/apps/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', typescript],
    '/node_modules/(@nestjs|content-disposition|svelte|esm-env|devalue)/.+\\.js$': ['@swc/jest', modules],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!@nestjs/|@fastify/static/node_modules/|content-disposition/|svelte/|esm-env/|devalue/)',
  ],
  moduleNameMapper: {
    '^nestjs-session-auth$': '<rootDir>/libs/auth/src/index.ts',
    '^nestjs-session-auth/testing$': '<rootDir>/libs/auth/src/testing/index.ts',
    '^nestjs-session-auth-client$': '<rootDir>/libs/client/src/index.ts',
    '^nestjs-session-auth-client/(ssr|react|vue|svelte|query|testing)$': '<rootDir>/libs/client/src/$1.ts',
    '^nestjs-session-auth/node-sqlite$': '<rootDir>/libs/auth/src/node-sqlite/index.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/libs/auth/dist/', '<rootDir>/libs/client/dist/'],
  // These tests install packages from the registry, which takes about a minute. See scripts/test.mjs.
  testPathIgnorePatterns: process.env.TEST_PACKAGE ? [] : ['<rootDir>/test/package/'],
  setupFiles: ['<rootDir>/test/support/setup.ts'],
  testTimeout: 30_000,
};
