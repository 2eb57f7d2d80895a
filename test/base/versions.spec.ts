import { readManifest, unsupportedVersions } from '../../libs/auth/src/base/versions';

const INSTALLED = {
  '@nestjs/core': '12.5.1',
  '@nestjs/event-emitter': '12.0.1',
  '@nestjs/typeorm': '12.0.2',
  typeorm: '1.1.1',
};
const { peerDependencies } = jest.requireActual<{ peerDependencies: Record<string, string> }>(
  '../../libs/auth/package.json',
);

const NEST = '^10.4.0 || ^11.0.0 || ^12.0.0';

/** Returns the warnings of an application in which some packages have other versions. Null: the version is unknown. */
function warningsWith(versions: Record<string, string | null>): string[] {
  const manifests: Record<string, string | null> = { ...INSTALLED, ...versions, 'nestjs-session-auth': '1.0.0' };
  return unsupportedVersions((name) => {
    const version = manifests[name];
    return version ? { name, version, peerDependencies } : null;
  });
}

describe('the check of installed versions', () => {
  it.each([
    ['@nestjs/core', '10.3.10', NEST],
    ['@nestjs/core', '13.0.0-next.1', NEST],
    ['@nestjs/event-emitter', '1.4.2', '^2.0.0 || ^3.0.0 || ^12.0.0'],
    ['@nestjs/typeorm', '9.0.1', '^10.0.0 || ^11.0.0 || ^12.0.0'],
    ['typeorm', '0.3.19', '^0.3.20 || ^1.0.0'],
    ['typeorm', '0.4.0', '^0.3.20 || ^1.0.0'],
  ])('%s %s causes one warning, which names the supported range', (name, version, range) => {
    expect(warningsWith({ [name]: version })).toEqual([
      `${name} ${version} is not supported. Install a version in the range ${range}.`,
    ]);
  });

  it.each([
    ['the oldest versions', { '@nestjs/core': '10.4.0', '@nestjs/event-emitter': '2.0.0', typeorm: '0.3.20' }],
    ['newer versions', { '@nestjs/core': '11.2.10', '@nestjs/typeorm': '11.0.3', typeorm: '0.3.100' }],
    ['versions that cannot be read', { '@nestjs/core': null, '@nestjs/typeorm': null, typeorm: null }],
  ])('%s cause no warning', (_, versions) => {
    expect(warningsWith(versions)).toEqual([]);
  });

  it.each([...Object.keys(INSTALLED), 'nestjs-session-auth'])(
    'the version of %s is read from where it is installed',
    (name) => {
      expect(readManifest(name)).toMatchObject({ name, version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    },
  );

  it('the ranges cannot be read in a bundle, which causes no warning', () => {
    expect(unsupportedVersions((name) => (name === 'typeorm' ? { name, version: '0.2.0' } : null))).toEqual([]);
  });
});
