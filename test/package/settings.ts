/**
 * The versions that an application installs. Each version of Nest is tested with the TypeScript that its users have.
 * A version with a patch is exactly this one. The others are the newest of their line.
 */
export interface Versions {
  readonly nest: '10' | '11' | '12';
  readonly typeorm: '0.3.20' | '0.3.28' | '0.3' | '1';
}

export const VERSIONS: readonly Versions[] = [
  { nest: '11', typeorm: '0.3' },
  { nest: '11', typeorm: '1' },
  { nest: '12', typeorm: '0.3' },
  { nest: '12', typeorm: '1' },
];

/** Older versions, which are tested in fewer layouts and on fewer versions of Node. */
export const OLDER_VERSIONS: readonly Versions[] = [
  { nest: '10', typeorm: '0.3.20' },
  { nest: '10', typeorm: '0.3' },
  { nest: '11', typeorm: '0.3.20' },
  { nest: '11', typeorm: '0.3.28' },
  { nest: '12', typeorm: '0.3.28' },
];

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

export const OLDER_LAYOUTS = LAYOUTS.slice(0, 1);
export const OLDER_NODES: readonly string[] = ['20', '24'];

/**
 * For each Node line in `engines`: its newest version, and its first supported one if the range does not begin
 * with the line.
 */
export const NODES: readonly string[] = ['20.19.0', '20', '22.12.0', '22', '24', '26'];

/** The newest version of each of these lines. */
export const NODE_LINES: readonly string[] = NODES.filter((version) => !version.includes('.'));

const OF_NEST: Readonly<Record<Versions['nest'], Record<string, string>>> = {
  '10': {
    '@nestjs/event-emitter': '^2',
    '@nestjs/swagger': '^8',
    'class-validator': '^0.14.0',
    'ua-parser-js': '^1.0.41',
    typescript: '~5.4.0',
  },
  '11': {
    '@nestjs/event-emitter': '^3',
    '@nestjs/swagger': '^11',
    '@opentelemetry/api': '^1.9.0',
    'class-validator': '^0.14.0',
    'ua-parser-js': '^1.0.41',
    typescript: '~5.9.0',
  },
  // Without the optional packages.
  '12': { '@nestjs/event-emitter': '^12', 'class-validator': '^0.15.0', typescript: '~6.0.0' },
};

export function dependenciesOf({ nest, typeorm }: Versions): Record<string, string> {
  const range = nest === '10' ? '^10.4.0' : `^${nest}`;
  return {
    '@nestjs/common': range,
    '@nestjs/core': range,
    '@nestjs/platform-express': range,
    '@nestjs/testing': range,
    '@nestjs/typeorm': nest === '10' ? '^10' : range,
    '@types/node': '^20',
    'class-transformer': '^0.5.1',
    mysql2: '^3.11.0',
    pg: '^8.11.0',
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.2.0',
    typeorm: /\d+\.\d+\.\d+/.test(typeorm) ? typeorm : `^${typeorm}`,
    'newest-typescript': 'npm:typescript@latest',
    ...OF_NEST[nest],
  };
}

/** The packages without which the module must also start. */
export const OPTIONAL: readonly string[] = ['@nestjs/swagger', '@opentelemetry/api', 'ua-parser-js'];

/** Returns whether an application has ua-parser-js, and therefore the names of devices. */
export const hasDevices = ({ nest }: Versions): boolean => 'ua-parser-js' in OF_NEST[nest];

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
