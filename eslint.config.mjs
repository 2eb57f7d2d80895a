import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', 'coverage/', 'docs/api/'] },
  eslint.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      'max-lines': ['error', { max: 250 }],
      'no-restricted-syntax': [
        'error',
        { selector: "MemberExpression[object.name='Math'][property.name='random']", message: 'Use the CryptoSource.' },
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'Use the Clock.',
        },
      ],
    },
  },
  {
    // Every public method has a docstring.
    files: ['libs/auth/src/services/auth.service.ts'],
    rules: { 'max-lines': ['error', { max: 250, skipComments: true, skipBlankLines: true }] },
  },
  {
    // Time is told in the adapter alone, and in the client's; the jitter between two tries is no secret.
    files: [
      'libs/auth/src/adapters/system-clock.ts',
      'libs/client/src/environment.ts',
      'libs/auth/src/store/database/database.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    // Nest calls modules, entities and DTOs by their decorators; a consistent type import there would break injection.
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
    // Answers over HTTP are what the tests are about: their bodies are not typed.
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
    // In the browser; the compiler knows what is defined there.
    files: ['apps/sample/src/page/*.js'],
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
