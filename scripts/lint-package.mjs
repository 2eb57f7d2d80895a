// Checks a packed tarball with publint and "are the types wrong": node scripts/lint-package.mjs <tarball>. Any
// finding fails.
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const tarball = readFileSync(process.argv[2]);
const data = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);

const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
const { problems, entrypoints } = await checkPackage(createPackageFromTarballData(new Uint8Array(data)));

for (const message of messages) console.error(`publint: ${formatMessage(message, pkg, { color: false })}`);
for (const problem of problems ?? []) console.error(`are the types wrong: ${JSON.stringify(problem)}`);
// "are the types wrong" reports no problem for a package without types.
if (!problems) console.error('are the types wrong: the package has no types.');
if (messages.length > 0 || problems?.length !== 0) process.exitCode = 1;
else console.log(`publint and are-the-types-wrong find nothing in ${Object.keys(entrypoints).join(', ')}.`);
