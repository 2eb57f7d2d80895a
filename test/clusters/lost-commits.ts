import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, jsonRequest } from '../crash/request-with-retries';
import { startPostgres, type PostgresCluster } from './postgres';
import { figure, type Scenario } from './scenario';
import { askUntilAnswered, logIn } from './storm-clients';
import { storm, WITNESS } from './storm';
import { endEverySession } from './tables';

/** The length of the period before the fault in which commits are lost. */
const LOST_MS = 3_000;
/** The time before an administrator reacts, in which each client presents a token that is newer than the database. */
const REACTION_MS = 3_000;

type Step = (nodes: PostgresCluster['nodes']) => Promise<void>;

/**
 * Loses commits, among them a logout. Then an administrator ends all sessions.
 *
 * @param remember marks the point after which commits will be lost
 */
function loss(name: string, title: string, remember: Step, lose: Step): Scenario {
  return {
    ...{ name, title, cluster: 'PostgreSQL' },
    async run(workspace) {
      let isEnded = false;
      const fault = async (cluster: PostgresCluster, [url]: readonly string[]): Promise<void> => {
        const { access_token: accessToken } = await logIn(url!, WITNESS);
        const statusOfSession = async () => (await askUntilAnswered(url!, 'me', bearer(accessToken))).status;
        await remember(cluster.nodes);
        await askUntilAnswered(url!, 'auth/logout', jsonRequest({}, accessToken));
        await sleep(LOST_MS);
        await lose(cluster.nodes);
        if ((await statusOfSession()) !== 200) throw new Error('No commit was lost: the session is still logged out.');
        await sleep(REACTION_MS);
        await endEverySession(cluster);
        isEnded = (await statusOfSession()) === 401;
      };
      const cluster = await startPostgres(workspace);
      const { outcomes, signals } = await storm(workspace, cluster, fault, { 'sessions lost': Infinity });
      const reports = signals.filter((signal) => signal === 'lost_commits_suspected').length;
      const figures = [
        figure('sessions accepted after all sessions were ended', Number(!isEnded), 0),
        figure('instances that did not report lost commits', Math.max(0, 4 - reports), 0),
      ];
      return [...outcomes, { subject: 'a session that had been logged out', figures }];
    },
  };
}

export const LOSSES: readonly Scenario[] = [
  loss(
    'asynchronous-failover',
    'an asynchronous standby is promoted; the last 3 s of commits are lost',
    async ([primary, standby]) => {
      await primary.waitForNobody();
      await standby.unfollow();
    },
    async ([primary, standby]) => {
      await primary.kill();
      await standby.promote();
    },
  ),
  loss(
    'restored-backup',
    'a 3-second-old backup is restored',
    ([primary]) => primary.backUp(),
    async ([primary, standby]) => {
      await standby.kill();
      await primary.kill();
      await primary.restore();
    },
  ),
];
