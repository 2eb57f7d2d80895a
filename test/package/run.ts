import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The root of the workspace. */
export const ROOT = join(__dirname, '../..');

/**
 * Runs a command and returns its output.
 *
 * @throws with the output if the command fails
 */
export function run(command: string, args: readonly string[], cwd: string, env = process.env): string {
  try {
    return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
