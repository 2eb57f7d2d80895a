import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '../servers.mjs';
import { cacheFolder, createFilled } from './cache.mjs';
import { lastLines, run } from './run.mjs';
import { serverUser } from './user.mjs';

const POLL_MS = 200;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;

/**
 * Starts a server that runs on after this process, and waits until it executes statements. Downloads the server if it
 * is missing. Does nothing if the server already runs.
 */
export async function start(server) {
  const running = runningPid(server);
  if (running !== null) return { version: await untilReady(server, running), pid: running, isNew: false };
  const program = programOf(server);
  if (await acceptsConnections(server.port)) {
    throw new Error(
      `Cannot start ${server.name}, because another process uses port ${server.port}. Stop that process, ` +
        `or run the tests on it with ${server.variable}.`,
    );
  }
  const { data, pidFile, log } = filesOf(server);
  const user = serverUser();
  createFilled(data, (folder) => initialize(server, program, folder, user));

  const [file, ...args] = server.command(program, data, server.port);
  const logFile = openSync(log, 'w');
  const child = spawn(file, args, { detached: true, stdio: ['ignore', logFile, logFile], cwd: '/', ...user });
  child.on('error', () => {});
  child.unref();
  writeFileSync(pidFile, `${child.pid}\n`);
  try {
    return { version: await untilReady(server, child.pid), pid: child.pid, isNew: true };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

/** Returns the folder with the programs of a server. Downloads them if they are missing. */
export function programOf(server) {
  requirePlatform(server);
  const { program } = filesOf(server);
  if (!existsSync(program)) console.log(`${server.name}: downloading to ${program}`);
  createFilled(program, (folder) => download(server, folder));
  return program;
}

/** Stops a server and waits until it has ended. Returns its process id, or null if it was not running. */
export async function stop(server) {
  const pid = runningPid(server);
  if (pid !== null) {
    process.kill(pid, server.stopSignal);
    for (const end = performance.now() + STOP_TIMEOUT_MS; isProcessOf(server, pid);) {
      if (performance.now() > end) {
        throw new Error(`${server.name} has not stopped in ${STOP_TIMEOUT_MS / 1_000} seconds. Its pid is ${pid}.`);
      }
      await sleep(POLL_MS);
    }
  }
  rmSync(filesOf(server).pidFile, { force: true });
  return pid;
}

/** Describes in one line whether a server runs. */
export function statusOf(server) {
  const pid = runningPid(server);
  if (pid !== null) return `runs with pid ${pid}, ${server.variable}=${server.url}`;
  return existsSync(filesOf(server).program) ? 'stopped' : 'not downloaded';
}

function filesOf({ name }) {
  const folder = join(cacheFolder(), name);
  return {
    program: join(folder, 'program'),
    data: join(folder, 'data'),
    pidFile: join(folder, 'pid'),
    log: join(folder, 'log'),
  };
}

function requirePlatform(server) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `${server.name} is available only for Linux on x64, not for ${process.platform} on ${process.arch}. ` +
        `Start a server of this version yourself and set ${server.variable}.`,
    );
  }
  server.requirePlatform();
}

function download(server, folder) {
  try {
    server.install(folder);
  } catch (error) {
    throw new Error(
      `${error.message}\n\nThe download of ${server.name} needs a network connection. Without one, set ` +
        `${server.variable} to the URL of a server that you have started.`,
      { cause: error },
    );
  }
}

function initialize(server, program, folder, user) {
  chmodSync(folder, 0o700);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  try {
    run(`create the data of ${server.name}`, server.initialization(program, folder), { cwd: '/', ...user });
  } catch (error) {
    if (error.cause?.code !== 'EACCES') throw error;
    throw new Error(
      `Cannot start ${server.name}, because the user as whom it runs cannot open ${program}. Set XDG_CACHE_HOME ` +
        'to a folder that all users can open.',
      { cause: error },
    );
  }
}

/** Waits until the server executes statements, and returns its version. */
async function untilReady(server, pid) {
  for (const end = performance.now() + START_TIMEOUT_MS; ; await sleep(POLL_MS)) {
    try {
      return await server.readVersion(server.url);
    } catch (error) {
      if (isProcessOf(server, pid) && performance.now() < end) continue;
      const { log } = filesOf(server);
      const hasEnded = isProcessOf(server, pid) ? `does not accept connections (${error.message})` : 'has ended';
      throw new Error(`${server.name} ${hasEnded}. The end of ${log}:\n${lastLines(readFileSync(log, 'utf8'))}`, {
        cause: error,
      });
    }
  }
}

/** Returns the recorded process id, or null if that process has ended. */
function runningPid(server) {
  const { pidFile } = filesOf(server);
  if (!existsSync(pidFile)) return null;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  return isProcessOf(server, pid) ? pid : null;
}

/** Returns whether a process is the server. After a restart of the system, another process may have the same id. */
function isProcessOf(server, pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0=]/).includes(filesOf(server).data);
  } catch {
    return false;
  }
}
