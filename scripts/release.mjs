// The steps of a release, as CONTRIBUTING.md describes them:
//   version               turns the changesets into new versions of both packages and a section of CHANGELOG.md
//   prepare <tag> <url>   checks that a tag is the version of both packages, and writes the repository's address into them
//   pack <folder>         writes the built packages, their bills of materials (CycloneDX) and the release notes
//   rehearse              does the first and the last of these in a copy of the repository, and checks the results
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDERS = ['libs/auth', 'libs/client'];
const HEADINGS = { major: 'Breaking changes', minor: 'Added and changed', patch: 'Fixed' };
const UNRELEASED = '## [Unreleased]\n';

const inRoot = (path) => join(root, path);
const readJson = (path) => JSON.parse(readFileSync(inRoot(path), 'utf8'));
const writeJson = (path, value) => writeFileSync(inRoot(path), `${JSON.stringify(value, null, 2)}\n`);
const manifests = () => FOLDERS.map((folder) => readJson(`${folder}/package.json`));
const run = (command, args, cwd = root) => execFileSync(command, args, { cwd, encoding: 'utf8' });

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Returns the version of both packages. */
function version() {
  const versions = new Set(manifests().map((manifest) => manifest.version));
  if (versions.size > 1) fail(`The packages have different versions: ${[...versions].join(' and ')}.`);
  return [...versions][0];
}

/** Returns the changesets with the largest change that they make to a package. */
function changesets() {
  const names = readdirSync(inRoot('.changeset')).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => {
    const [, header, text] = readFileSync(inRoot(`.changeset/${name}`), 'utf8').split(/^---\n/m);
    return { level: Object.keys(HEADINGS).find((level) => header?.includes(`: ${level}`)), text: text?.trim() };
  });
}

function setVersions() {
  const announced = changesets();
  if (announced.length === 0) fail('There is no changeset, and so nothing to release. Write one: npx changeset');
  run(process.execPath, [createRequire(import.meta.url).resolve('@changesets/cli/bin.js'), 'version']);

  const lock = readJson('package-lock.json');
  for (const folder of FOLDERS) lock.packages[folder].version = version();
  writeJson('package-lock.json', lock);

  const parts = Object.entries(HEADINGS).flatMap(([level, heading]) => {
    const items = announced
      .filter((one) => one.level === level)
      .map(({ text }) => `- ${text.replaceAll('\n', '\n  ')}`);
    return items.length === 0 ? [] : [`### ${heading}\n\n${items.join('\n')}\n`];
  });
  const changelog = readFileSync(inRoot('CHANGELOG.md'), 'utf8');
  if (!changelog.includes(UNRELEASED)) fail(`CHANGELOG.md has no section "${UNRELEASED.trim()}".`);
  const date = new Date().toISOString().slice(0, 10);
  const section = [UNRELEASED, `## [${version()}] - ${date}\n`, ...parts].join('\n');
  writeFileSync(
    inRoot('CHANGELOG.md'),
    changelog.replace(UNRELEASED, () => section),
  );
  // From now on, changesets name the changes since this version.
  cpSync(inRoot('report/public-api.json'), inRoot('report/released.json'));
  console.log(`The next version is ${version()}.`);
}

function prepare(tag, url) {
  if (tag !== `v${version()}`) fail(`The tag is ${tag}, but the version of the packages is ${version()}.`);
  for (const folder of FOLDERS) {
    const repository = { type: 'git', url: `git+${url}.git`, directory: folder };
    writeJson(`${folder}/package.json`, { ...readJson(`${folder}/package.json`), repository });
  }
}

function pack(folder) {
  mkdirSync(folder, { recursive: true });
  for (const [index, { name }] of manifests().entries()) {
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], inRoot(FOLDERS[index]));
    writeFileSync(
      join(folder, `${name}.cdx.json`),
      `${JSON.stringify(billOfMaterials(name, FOLDERS[index]), null, 2)}\n`,
    );
  }
  writeFileSync(join(folder, 'notes.md'), notes());
}

/** Returns the bill of materials of a package: itself and what it installs. npm lists the whole workspace. */
function billOfMaterials(name, folder) {
  const flags = ['--sbom-format=cyclonedx', '--package-lock-only', `--workspace=${name}`];
  const { metadata, components, dependencies, ...bom } = JSON.parse(run('npm', ['sbom', ...flags]));
  const { packages } = readJson('package-lock.json');
  const installedBy = (path) =>
    Object.keys(packages[path].dependencies ?? {}).flatMap((one) => {
      const found = [`${path}/node_modules/${one}`, `node_modules/${one}`].find((place) => packages[place]);
      return [`${one}@${packages[found].version}`, ...installedBy(found)];
    });
  const own = `${name}@${version()}`;
  const installed = installedBy(folder);
  return {
    ...bom,
    metadata: { ...metadata, component: { ...components.find((one) => one['bom-ref'] === own), name } },
    components: components.filter((one) => installed.includes(one['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => [own, ...installed].includes(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => installed.includes(one)) })),
  };
}

/** Returns the section of the version in the changelog. */
function notes() {
  const sections = readFileSync(inRoot('CHANGELOG.md'), 'utf8').split(/^(?=## \[)/m);
  const section = sections.find((text) => text.startsWith(`## [${version()}]`));
  if (!section) fail(`CHANGELOG.md has no section for ${version()}.`);
  return section.slice(section.indexOf('\n')).trim();
}

function rehearse() {
  if (!existsSync(inRoot('libs/auth/dist'))) fail('The packages are not built. Run first: npm run build');
  const work = mkdtempSync(join(tmpdir(), 'nsa-release-'));
  try {
    const copy = join(work, 'repository');
    const OMITTED = ['node_modules', '.git', 'website', 'test', 'bench', 'examples', 'apps', 'dist'];
    const isCopied = (path) => !OMITTED.includes(basename(path)) || /libs\/\w+\/dist$/.test(path);
    for (const name of readdirSync(root).filter(isCopied)) {
      cpSync(inRoot(name), join(copy, name), { recursive: true, filter: isCopied });
    }
    symlinkSync(inRoot('node_modules'), join(copy, 'node_modules'));
    const text = `---\n'nestjs-session-auth': patch\n---\n\nA change of the rehearsal.\n`;
    writeFileSync(join(copy, '.changeset/rehearsal.md'), text);
    const git = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@localhost', '-c', 'init.defaultBranch=main'];
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      ['commit', '-q', '-m', 'Rehearse'],
    ])
      run('git', [...git, ...args], copy);

    const script = join(copy, 'scripts/release.mjs');
    run(process.execPath, [script, 'version'], copy);
    const next = JSON.parse(readFileSync(join(copy, 'libs/auth/package.json'), 'utf8')).version;
    run(process.execPath, [script, 'prepare', `v${next}`, 'https://localhost/repository'], copy);
    run(process.execPath, [join(copy, 'scripts/build-docs.mjs')], copy);
    const folder = join(work, 'release');
    run(process.execPath, [script, 'pack', folder], copy);
    const problems = problemsOf(folder, next);
    if (next === version()) problems.push('the version did not change');
    if (readdirSync(join(copy, '.changeset')).some((name) => name.endsWith('.md')))
      problems.push('changesets are left');
    if (problems.length > 0) fail(`The rehearsal of the release failed: ${problems.join(', ')}.`);
    console.log(`The rehearsal of ${next} wrote ${readdirSync(folder).join(', ')}.`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns what is wrong with the files of a release. `test/package` checks the rest of the packages' contents. */
function problemsOf(folder, next) {
  const problems = [];
  const check = (holds, problem) => void (holds || problems.push(problem));
  check(
    readFileSync(join(folder, 'notes.md'), 'utf8').includes('- A change of the rehearsal.'),
    'the notes lack a change',
  );
  for (const [name, dependencies] of [
    ['nestjs-session-auth', 'bcrypt, cookie, node-addon-api, node-gyp-build'],
    ['nestjs-session-auth-client', ''],
  ]) {
    const tarball = join(folder, `${name}-${next}.tgz`);
    const read = (path) => run('tar', ['-xOzf', tarball, `package/${path}`]);
    const { version: packed, repository } = JSON.parse(read('package.json'));
    check(packed === next, `${name} has the version ${packed}`);
    check(repository?.url === 'git+https://localhost/repository.git', `${name} has no address`);
    if (name === 'nestjs-session-auth') check(read('CHANGELOG.md').includes(`## [${next}] - `), 'the changelog is old');
    const { metadata, components = [] } = JSON.parse(readFileSync(join(folder, `${name}.cdx.json`), 'utf8'));
    check(metadata.component.name === name, `the bill of materials of ${name} describes ${metadata.component.name}`);
    const listed = components
      .map((component) => component.name)
      .sort()
      .join(', ');
    check(listed === dependencies, `the bill of materials of ${name} lists ${listed}`);
  }
  return problems;
}

const [step, ...args] = process.argv.slice(2);
if (step === 'version') setVersions();
else if (step === 'prepare' && args.length === 2) prepare(...args);
else if (step === 'pack' && args.length === 1) pack(resolve(args[0]));
else if (step === 'rehearse') rehearse();
else fail('Usage: node scripts/release.mjs version | prepare <tag> <url> | pack <folder> | rehearse');
