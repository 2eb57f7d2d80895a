import { spawnSync } from 'node:child_process';

/**
 * Runs a program and returns its output.
 * @throws an error that contains `purpose` and the last lines of the program's messages
 */
export function run(purpose, [file, ...args], options = {}) {
  const { status, stdout, stderr, error, signal } = spawnSync(file, args, { encoding: 'utf8', ...options });
  if (status === 0) return stdout;
  const reason = error?.message ?? (lastLines(stderr) || lastLines(stdout) || `exit code ${status ?? signal}`);
  throw new Error(`Cannot ${purpose}, because ${file} failed:\n${reason}`, { cause: error });
}

/** Returns the last lines of a text, without empty lines. */
export function lastLines(text, count = 10) {
  return text.split('\n').filter(Boolean).slice(-count).join('\n');
}
