import { setTimeout as sleep } from 'node:timers/promises';
import { requestWithRetries, bearer, jsonRequest, type Reply } from '../crash/request-with-retries';
import { startPostgres, type PostgresCluster } from './postgres';
import { figure, type Scenario } from './scenario';
import { PASSWORD } from './storm-clients';
import { storm, WITNESS } from './storm';
import { endEverySession } from './tables';

/** The length of the period before the fault in which commits are lost. */
const LOST_MS = 3_000;
/** The time before an administrator reacts, in which each client presents a token that is newer than the database. */
const REACTION_MS = 3_000;

interface Loss {
  readonly name: string;
  readonly title: string;
  /** Marks the point after which commits will be lost. */
  remember(nodes: PostgresCluster['nodes']): Promise<void>;
  lose(nodes: PostgresCluster['nodes']): Promise<void>;
}

/** Loses commits, among them a logout. Then an administrator ends all sessions. */
function lossOf({ name, title, remember, lose }: Loss): Scenario {
  return {
    ...{ name, title, cluster: 'PostgreSQL' },
    async run(workspace) {
      let isEnded = false;
      const cluster = await startPostgres(workspace);
      const fault = async ({ nodes }: PostgresCluster, [url]: readonly string[]): Promise<void> => {
        const login = await ask(url!, 'auth/login', jsonRequest({ username: WITNESS, password: PASSWORD }));
        const { access_token: accessToken } = login.body as { access_token: string };
        await remember(nodes);
        await ask(url!, 'auth/logout', jsonRequest({}, accessToken));
        await sleep(LOST_MS);
        await lose(nodes);
        const { status } = await ask(url!, 'me', bearer(accessToken));
        if (status !== 200) throw new Error('No commit was lost: the session is still logged out.');
        await sleep(REACTION_MS);
        await endEverySession(cluster);
        isEnded = (await ask(url!, 'me', bearer(accessToken))).status === 401;
      };
      const { outcomes, signals } = await storm(workspace, cluster, fault, { mayLose: true });
      const reports = signals.filter((signal) => signal === 'lost_commits_suspected').length;
      const figures = [
        figure('sessions accepted after all sessions were ended', Number(!isEnded), 0),
        figure('instances that did not report lost commits', Math.max(0, 4 - reports), 0),
      ];
      return [...outcomes, { subject: 'a session that had been logged out', figures }];
    },
  };
}

async function ask(url: string, path: string, request: RequestInit): Promise<Reply> {
  const patience = { url: () => url, unavailable: (_: string, waitMs: number) => waitMs, unanswered: () => 200 };
  return (await requestWithRetries(path, request, patience))!;
}

export const LOSSES: readonly Scenario[] = [
  lossOf({
    name: 'asynchronous-failover',
    title: 'an asynchronous standby is promoted; the last 3 s of commits are lost',
    async remember([primary, standby]) {
      await primary.waitForNobody();
      await standby.unfollow();
    },
    async lose([primary, standby]) {
      await primary.kill();
      await standby.promote();
    },
  }),
  lossOf({
    name: 'restored-backup',
    title: 'a 3-second-old backup is restored',
    remember: ([primary]) => primary.backUp(),
    async lose([primary, standby]) {
      await standby.kill();
      await primary.kill();
      await primary.restore();
    },
  }),
];
