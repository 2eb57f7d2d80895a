import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';
import { writeOptions } from '../support/sqlite';
import { ActivityRecorder } from '../../libs/auth/src/services/sessions/activity-recorder';
import { Tap } from '../support/tap';

const ROOT = join(__dirname, '../..');

describe.each(DATABASES)('closing the application on %s', (name) => {
  it('finishes requests in flight: the response arrives, and the change is stored', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const session = await host.login();
    const tap = new Tap(host);
    let goOn!: () => void;
    const arrived = new Promise<void>((arrive) => {
      const opened = new Promise<void>((open) => (goOn = open));
      const kind = name === 'sqlite' ? 'unit' : 'statement';
      tap.hook = {
        before: (call) => {
          // What commits the refresh: on PostgreSQL its one statement.
          if (call.kind !== kind || (kind === 'statement' && !/^(COMMIT|WITH changed)/.test(call.sql))) return;
          arrive();
          return opened;
        },
      };
    });
    const refreshed = host.refresh(session.refresh_token).then((answer) => answer);
    await arrived;
    const closed = host.close();
    goOn();
    const answer = await refreshed;
    await closed;
    expect(answer.status).toBe(200);
    const next = await Host.start({ database, users: [] });
    await next.get('/me', answer.body.access_token).expect(200);
    await next.close();
    await database.drop();
  });

  it.each(['before it', 'while it closes'])('writes the activity of a request that arrived %s', async (when) => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const { access_token: token } = await host.login();
    host.clock.advance(2 * MINUTE);
    if (when === 'before it') await host.get('/me', token).expect(200);
    const tap = new Tap(host);
    const kind = name === 'sqlite' ? 'unit' : 'statement';
    let closed: Promise<void> | undefined;
    if (when === 'while it closes') {
      // The application begins to close, and writes what is pending, while the guard looks up the session.
      const activity = host.app.get(ActivityRecorder);
      const stop = activity.beforeApplicationShutdown.bind(activity);
      const flushed = new Promise<void>((resolve) => {
        activity.beforeApplicationShutdown = () => stop().then(resolve);
      });
      const started = new Promise<void>((start) => {
        tap.hook = {
          before: (call) => {
            if (call.kind !== kind || closed) return;
            closed = host.close();
            start();
            return flushed;
          },
        };
      });
      const answer = host.get('/me', token).then(({ status }) => status);
      await started;
      expect(await answer).toBe(200);
    }
    await (closed ?? host.close());
    const reader = await new DataSource(database.options).initialize();
    const [row] = await reader.query('SELECT created_at, last_activity FROM auth_sessions');
    expect(Number(row.last_activity) - Number(row.created_at)).toBe(2 * MINUTE);
    await reader.destroy();
    await database.drop();
  });

  it('leaves no timer and no handle: the process ends by itself', async () => {
    const database = await createDatabase(name);
    const script = `require('@swc-node/register'); require('${join(ROOT, 'test/support/one-life.ts')}')`;
    const child = spawn(process.execPath, ['-e', script], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        // On Node 22 `node:sqlite` has one.
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        SWC_NODE_PROJECT: join(ROOT, 'tsconfig.json'),
        DATABASE: writeOptions(database.options),
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const late = setTimeout(() => child.kill('SIGKILL'), 60_000);
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    clearTimeout(late);
    expect([output.trim(), code, signal]).toEqual(['closed after 200', 0, null]);
    await database.drop();
  }, 90_000);
});
