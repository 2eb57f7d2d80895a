/**
 * The versions that an application installs. Both versions of Nest are tested with the TypeScript that their
 * users have.
 */
export interface Versions {
  readonly nest: '11' | '12';
  readonly typeorm: '0.3' | '1';
}

export const VERSIONS: readonly Versions[] = [
  { nest: '11', typeorm: '0.3' },
  { nest: '11', typeorm: '1' },
  { nest: '12', typeorm: '0.3' },
  { nest: '12', typeorm: '1' },
];

/** How an application is compiled. */
export interface Layout {
  readonly modules: 'CommonJS' | 'ESM';
  readonly resolution: 'node10' | 'nodenext';
}

export const LAYOUTS: readonly Layout[] = [
  { modules: 'CommonJS', resolution: 'node10' },
  { modules: 'CommonJS', resolution: 'nodenext' },
  { modules: 'ESM', resolution: 'node10' },
  { modules: 'ESM', resolution: 'nodenext' },
];

/**
 * For each Node line in `engines`: its newest version, and its first supported one if the range does not begin
 * with the line.
 */
export const NODES: readonly string[] = ['20.19.0', '20', '22.12.0', '22', '24', '26'];

/** The newest version of each of these lines. */
export const NODE_LINES: readonly string[] = NODES.filter((version) => !version.includes('.'));

/** The version ranges in the package manifest of an application. */
export function dependenciesOf({ nest, typeorm }: Versions): Record<string, string> {
  return {
    '@nestjs/common': `^${nest}`,
    '@nestjs/core': `^${nest}`,
    '@nestjs/platform-express': `^${nest}`,
    '@nestjs/event-emitter': nest === '11' ? '^3' : '^12',
    '@nestjs/testing': `^${nest}`,
    '@nestjs/typeorm': `^${nest}`,
    '@types/node': '^20',
    'class-transformer': '^0.5.1',
    'class-validator': nest === '11' ? '^0.14.0' : '^0.15.0',
    mysql2: '^3.11.0',
    pg: '^8.11.0',
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.2.0',
    typeorm: typeorm === '0.3' ? '^0.3.29' : '^1',
    typescript: nest === '11' ? '~5.9.0' : '~6.0.0',
    'newest-typescript': 'npm:typescript@latest',
    // Optional packages. The module must also start without them.
    ...(nest === '11' ? { '@nestjs/swagger': '^11', '@opentelemetry/api': '^1.9.0', 'ua-parser-js': '^1.0.41' } : {}),
  };
}

/** The compiler options of an application. Declarations are checked: there is no `skipLibCheck`. */
export function compilerOptionsOf({ modules, resolution }: Layout, typescript: string): object {
  const module = resolution === 'nodenext' ? 'nodenext' : modules === 'ESM' ? 'es2022' : 'commonjs';
  return {
    target: 'es2022',
    module,
    moduleResolution: resolution,
    // TypeScript 6 accepts node10 only with this option.
    ...(resolution === 'node10' && Number.parseInt(typescript) >= 6 ? { ignoreDeprecations: '6.0' } : {}),
    esModuleInterop: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    types: ['node'],
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: false,
    outDir: 'dist',
    rootDir: 'src',
  };
}
