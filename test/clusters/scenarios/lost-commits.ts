import { setTimeout as sleep } from 'node:timers/promises';
import { askPatiently, bearer, jsonRequest, type Reply } from '../../crash/patient-request';
import { PostgresCluster } from '../postgres-cluster';
import { figure, type Scenario } from '../scenario';
import { PASSWORD } from '../storm-clients';
import { INSTANCES, storm, WITNESS } from '../storm';
import { outcomesOf } from '../storm-scenario';
import { endEverySession } from '../tables';

/** How much is lost. */
const LOST_MS = 3_000;
/** Time for each client to present a token that is newer than the database, before an administrator reacts. */
const REACTION_MS = 3_000;

interface Loss {
  readonly name: string;
  readonly title: string;
  /** What is committed afterwards will be lost. */
  remember(cluster: PostgresCluster): Promise<void>;
  lose(cluster: PostgresCluster): Promise<void>;
}

/** Commits are lost, among them a logout. Then an administrator ends all sessions. */
function lossOf({ name, title, remember, lose }: Loss): Scenario {
  return {
    ...{ name, title, cluster: 'PostgreSQL' },
    async run(workplace) {
      let isEnded = false;
      const cluster = await PostgresCluster.start(workplace, {});
      const fault = async (_: PostgresCluster, [url]: readonly string[]): Promise<void> => {
        const login = await ask(url!, 'auth/login', jsonRequest({ username: WITNESS, password: PASSWORD }));
        const { access_token: accessToken } = login.body as { access_token: string };
        await remember(cluster);
        await ask(url!, 'auth/logout', jsonRequest({}, accessToken));
        await sleep(LOST_MS);
        await lose(cluster);
        const { status } = await ask(url!, 'me', bearer(accessToken));
        if (status !== 200) throw new Error('No commit was lost: the session is still logged out.');
        await sleep(REACTION_MS);
        await endEverySession(cluster.options());
        isEnded = (await ask(url!, 'me', bearer(accessToken))).status === 401;
      };
      const figures = await storm(cluster, fault, workplace.teardown);
      const reports = figures.signals.get('lost_commits_suspected') ?? 0;
      return [
        ...outcomesOf(figures, { mayLose: true }),
        {
          subject: 'a session that had been logged out',
          figures: [
            figure('valid after all sessions were ended', Number(!isEnded), 0),
            figure('instances that did not report lost commits', Math.max(0, INSTANCES - reports), 0),
          ],
          details: [],
        },
      ];
    },
  };
}

async function ask(url: string, path: string, request: RequestInit): Promise<Reply> {
  const patience = { url: () => url, unavailable: (_: string, waitMs: number) => waitMs, unanswered: () => 200 };
  return (await askPatiently(path, request, patience))!;
}

export const LOSSES: readonly Scenario[] = [
  lossOf({
    name: 'asynchronous-failover',
    title: 'the standby, which no commit waits for, is promoted without the last 3 s',
    async remember({ primary, standby }) {
      await primary.waitForNobody();
      await standby.unfollow();
    },
    async lose({ primary, standby }) {
      await primary.kill();
      await standby.promote();
    },
  }),
  lossOf({
    name: 'restored-backup',
    title: 'a backup of 3 s ago is restored',
    remember: ({ primary }) => primary.backUp(),
    async lose({ primary, standby }) {
      await standby.kill();
      await primary.kill();
      await primary.restore();
    },
  }),
];
