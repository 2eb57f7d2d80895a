import 'reflect-metadata';
import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthError, AuthService, PasswordHasher } from 'nestjs-session-auth';
import type { Repository } from 'typeorm';
import { AppModule, dataSourceOptions } from './app.module';
import { allowFrontEnds } from './front-ends';
import { prepareDatabase } from './prepare-database';
import { readSettings, SettingsError, type SampleUser, type Settings } from './read-settings';
import { logFailedRequests } from './security-log';
import { User } from './user.entity';

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const dataSource = await prepareDatabase(dataSourceOptions(settings));
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(settings, dataSource), {
    // The `catch` at the end of this file prints startup errors, without a stack trace.
    logger: false,
    abortOnError: false,
  });
  // After `logger: false`, only a logger instance enables the log again. An array of levels does not.
  app.useLogger(new ConsoleLogger({ logLevels: ['error', 'warn'], colors: process.stdout.isTTY === true }));
  app.use(logFailedRequests());
  allowFrontEnds(app);
  app.enableShutdownHooks([], { useProcessExit: true });
  for (const user of settings.users) await createIfMissing(app.get(AuthService), user);
  const [stored, hasher] = [dataSource.getRepository(User), app.get(PasswordHasher)];
  refuse(await withValidPassword(settings.refusedUsers, stored, hasher));
  await app.listen(settings.port, settings.host);
  const valid = await withValidPassword(settings.users, stored, hasher);
  printIntroduction(settings, valid, (app.getHttpServer().address() as { port: number }).port);
}

/** Creates a user. Ignores `username_taken`: an earlier start or another instance may have created the same user. */
async function createIfMissing(auth: AuthService, user: SampleUser): Promise<void> {
  try {
    await auth.createUser(user, { skipPolicy: true });
  } catch (error) {
    if (!(error instanceof AuthError && error.code === 'username_taken')) throw error;
  }
}

/** Refuses users whose passwords are published. An earlier start on this computer may have created them. */
function refuse(users: ReadonlySet<SampleUser>): void {
  if (users.size === 0) return;
  const names = [...users].map(({ username }) => username).join(', ');
  throw new SettingsError(
    `The database contains users with a published default password: ${names}; unset HOST and NODE_ENV and change the ` +
      'passwords, or set DATABASE_URL to another database',
  );
}

/**
 * Returns the users whose stored password is still the configured password. Users can change their passwords, and
 * the database keeps the change after a restart.
 */
async function withValidPassword(
  users: readonly SampleUser[],
  stored: Repository<User>,
  hasher: PasswordHasher,
): Promise<ReadonlySet<SampleUser>> {
  const valid = new Set<SampleUser>();
  for (const user of users) {
    const found = await stored.findOne({
      where: { username: user.username },
      select: { id: true, passwordHash: true },
    });
    const hash = found?.passwordHash;
    if (hash && hasher.accepts(hash) && (await hasher.verify(user.password, hash))) valid.add(user);
  }
  return valid;
}

function printIntroduction(
  { host, databaseShown, users, usersAreDefault }: Settings,
  valid: ReadonlySet<SampleUser>,
  port: number,
): void {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const first = users.find((user) => valid.has(user)) ?? users[0]!;
  const password = usersAreDefault && valid.has(first) ? first.password : '...';
  const body = JSON.stringify({ username: first.username, password });
  const shown = users.map((user) => {
    if (!valid.has(user)) return `${user.username} (password changed)`;
    return usersAreDefault ? `${user.username}:${user.password}` : user.username;
  });
  console.log(`Listening on ${url}`);
  console.log(`Database: ${databaseShown}`);
  console.log(`Users: ${shown.join(', ')}`);
  console.log(`Open ${url} in a browser to see where you are signed in and what happens to a stolen token.`);
  console.log(`Try: curl -X POST ${url}/auth/login/ -H 'Content-Type: application/json' -d '${body}'`);
}

main().catch((error: unknown) => {
  // The message explains what is wrong. A stack trace would only hide it.
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
