import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', 'coverage/', 'docs/api/', 'website/.vitepress/', 'website/public/'] },
  eslint.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      'max-lines': ['error', { max: 400 }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='Math'][property.name='random']",
          message: 'Use Random instead.',
        },
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'Use the Clock instead.',
        },
      ],
    },
  },
  {
    // Examples have their own packages, so `npm run examples` checks their types.
    files: ['examples/**/*.ts'],
    ignores: ['examples/server-rendered/**'],
    ...tseslint.configs.disableTypeChecked,
    // Applications read the clock directly, and `nest new` writes controllers without return types.
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      'no-restricted-syntax': 'off',
    },
    languageOptions: { parserOptions: { projectService: false, project: null } },
  },
  {
    files: ['libs/**/*.ts', 'apps/**/*.ts'],
    rules: { complexity: ['error', 12] },
  },
  {
    // The two clocks read the time. The random wait between two attempts of a transaction need not be unpredictable.
    files: ['libs/auth/src/base/clock.ts', 'libs/client/src/environment.ts', 'libs/auth/src/database/database.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // Nest injects by the types of constructor parameters, which `import type` would remove at runtime.
    files: [
      '**/*.module.ts',
      '**/*.controller.ts',
      '**/*.guard.ts',
      '**/*.filter.ts',
      '**/*.service.ts',
      'apps/**/*.ts',
      'examples/**/*.ts',
    ],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    // The bodies of HTTP responses in tests have no types.
    files: ['test/**/*.ts', '**/*.spec.ts'],
    rules: {
      'max-lines': 'off',
      'no-restricted-syntax': 'off',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // Runs in browsers. The compiler checks which globals exist.
    files: ['apps/sample/src/page/*.js', 'examples/*/public/*.js'],
    rules: { 'no-undef': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        URL: 'readonly',
        setTimeout: 'readonly',
        performance: 'readonly',
      },
    },
  },
);
