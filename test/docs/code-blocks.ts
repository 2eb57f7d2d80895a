import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FENCED = /^( *)```(\w*)\n([^]*?)^ *```$/gm;

export interface CodeBlock {
  readonly file: string;
  /** The number of its first line in the document, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

export function documents(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\n').filter(Boolean);
}

/** Returns the code blocks of a document in order. Blocks in list items have their indentation removed. */
export function blocksOf(file: string, text = readFileSync(join(ROOT, file), 'utf8')): CodeBlock[] {
  return [...text.matchAll(FENCED)].map(({ index, 1: indent, 2: language, 3: code }) => ({
    file,
    line: text.slice(0, index).split('\n').length + 1,
    language: language!,
    code: code!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Returns the code blocks of a language between a heading, such as `### axios`, and the next heading. */
export function blocksUnder(file: string, heading: string, language = 'ts'): CodeBlock[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  const first = lines.indexOf(heading) + 1;
  if (first === 0) throw new Error(`${file} has no heading "${heading}".`);
  const length = lines.slice(first).findIndex((line) => /^##+ /.test(line));
  const last = length < 0 ? lines.length : first + length;
  return blocksOf(file).filter((block) => block.language === language && block.line > first && block.line <= last);
}
