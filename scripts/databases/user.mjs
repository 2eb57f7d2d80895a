import { readFileSync } from 'node:fs';

/** The users as whom the servers run if the command runs as root, in the order of preference. */
const UNPRIVILEGED = ['postgres', 'mysql', 'nobody'];

/**
 * Returns the user as whom the servers run, as options for `spawn`. PostgreSQL and MySQL refuse to run as root, so
 * root starts them as another user.
 */
export function serverUser() {
  if (process.getuid() !== 0) return {};
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const entry = UNPRIVILEGED.map((user) => entries.find(([name]) => name === user)).find(Boolean);
  if (!entry) {
    throw new Error(
      `The servers refuse to run as root, and none of the users ${UNPRIVILEGED.join(', ')} exists. ` +
        'Run the command as a user other than root.',
    );
  }
  return { uid: Number(entry[2]), gid: Number(entry[3]) };
}
