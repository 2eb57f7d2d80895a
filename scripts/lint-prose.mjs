// Reports phrases that the project does not use, and what to write instead, and lines of the guides that are too long:
// npm run lint:prose. The script checks documents, and the comments and string literals of code. prose.json contains
// the phrases, and the files in which they are allowed. Arguments name the files to check. Without arguments, the
// script checks the whole repository.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { phrases, names, allowed } = JSON.parse(readFileSync(join(root, 'scripts/prose.json'), 'utf8'));

const isAll = process.argv.length === 2;
const DOCUMENT = /\.(?:md|vue|html|css)$|(?:^|\/)package\.json$|^\.ci\//;
const CODE = /\.[cm]?[jt]s$/;
const LITERALS = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
]);

/** Converts a phrase to a regular expression that ignores case, and matches whole words, also across line breaks. */
const expressionOf = (phrase) => new RegExp(`(?<![\\w-])(?:${phrase.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi');
const rules = phrases.map(({ find, except = [], write }) => ({
  find: expressionOf(find),
  except: except.map(expressionOf),
  write,
}));
const nameRules = Object.entries(names).map(([name, write]) => ({ find: new RegExp(`\\b${name}\\b`, 'g'), write }));

/** Returns the prose of a file as [position, text]: a whole document, or the comments and literals of code. */
function proseOf(file, text) {
  return CODE.test(file) ? proseOfCode(file, text) : [[0, text]];
}

function proseOfCode(file, text) {
  const parts = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      parts.set(pos, text.slice(pos, end));
    }
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) {
      parts.set(pos, text.slice(pos, end));
    }
    const isModule = node.parent && (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent));
    if (LITERALS.has(node.kind) && !isModule) parts.set(node.getStart(), node.getText());
    node.getChildren().forEach(visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true));
  // Replaces the stars at the beginnings of lines, which are not part of a sentence, with spaces that keep all
  // positions.
  return [...parts].map(([position, part]) => [
    position,
    part.replaceAll(/\n\s*(?:\*|\/\/)/g, (star) => star.replaceAll(/[*/]/g, ' ')),
  ]);
}

/** Returns the matches in a text that do not overlap with a match of an exception. */
function matchesIn(text, { find, except = [] }) {
  const excepted = except.flatMap((one) =>
    [...text.matchAll(one)].map(({ index, 0: { length } }) => [index, index + length]),
  );
  return [...text.matchAll(find)].filter(
    ({ index, 0: { length } }) => !excepted.some(([from, to]) => index < to && index + length > from),
  );
}

function problemsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [
    ...proseOf(file, text).flatMap(([position, part]) =>
      rules.flatMap((rule) => matchesIn(part, rule).map((match) => ({ at: position + match.index, match, rule }))),
    ),
    ...nameRules.flatMap((rule) => matchesIn(text, rule).map((match) => ({ at: match.index, match, rule }))),
  ];
  return found.map(({ at, match, rule }) => ({
    line: text.slice(0, at).split('\n').length,
    phrase: match[0].replaceAll(/\s+/g, ' '),
    write: rule.write,
  }));
}

/** Guides, except those that a script writes or that are not wrapped yet. */
const WRAPPED = /^(?:README|CONTRIBUTING|docs\/(?!options|client\.|operations)[\w-]+)\.md$/;
/** What is not wrapped: code blocks, and figures that a script writes. */
const FIXED = /^( *)```[^]*?^ *```$|<!-- .*(?:bench:|written by)[^]*?<!-- (?:\/bench|until here)/gm;

/** Returns the numbers of the lines that are too long. Tables, headings, code and addresses cannot be wrapped. */
function longLines(file) {
  if (!WRAPPED.test(file)) return [];
  const text = readFileSync(join(root, file), 'utf8').replaceAll(FIXED, (part) => part.replaceAll(/[^\n]/g, ''));
  const lengths = text.split('\n').map((line) => line.replaceAll(/^\s*[|#!].*|`[^`]*`|\]\([^)]*\)/g, '').length);
  return lengths.flatMap((length, index) => (length > 100 ? [index + 1] : []));
}

function filesToCheck() {
  if (!isAll) return process.argv.slice(2).map((path) => relative(root, resolve(path)));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((file) => DOCUMENT.test(file) || CODE.test(file));
}

const used = new Set();

/** Returns whether an entry of prose.json allows the phrase in the file. */
function isAllowed(file, phrase) {
  const entries = allowed.filter((entry) => entry.files.includes(file) && entry.phrases.includes(phrase.toLowerCase()));
  if (entries.length > 0) used.add(file);
  return entries.length > 0;
}

let count = 0;
for (const file of filesToCheck()) {
  for (const line of longLines(file)) {
    count += 1;
    console.error(`${file}:${line}: a line of more than 100 characters; wrap it`);
  }
  for (const { line, phrase, write } of problemsOf(file)) {
    if (isAllowed(file, phrase)) continue;
    count += 1;
    console.error(`${file}:${line}: "${phrase}"; write ${write}`);
  }
}
const unused = isAll ? allowed.flatMap(({ files }) => files).filter((file) => !used.has(file)) : [];
for (const file of unused) console.error(`${file} has no phrase to allow. Remove the file from scripts/prose.json.`);
if (count > 0) {
  console.error(`\nFound ${count} problems. If a phrase is correct, allow it in scripts/prose.json, with the reason.`);
}
if (count > 0 || unused.length > 0) process.exitCode = 1;
