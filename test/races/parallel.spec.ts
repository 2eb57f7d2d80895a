import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';

/** Two instances on one database, as behind a load balancer. Races within an instance are in `interleavings.spec.ts`. */
describeOnEachDatabase('parallel requests to two instances', {}, (env: TestEnvironment) => {
  it.each([2, 50])(
    '%i parallel refreshes of one token on two instances return one pair, and reuse is reported once',
    async (count) => {
      const apps = [env.app, await env.start()] as const;
      const session = await apps[0].login();
      const other = await apps[1].login();
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) => apps[index % 2]!.refresh(session.refresh_token)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array<number>(count - 1).fill(400)]);
      const winner = answers.find(({ status }) => status === 200)!.body;
      await apps[0].get('/me', winner.access_token).expect(401);
      await apps[1].refresh(winner.refresh_token).expect(400);
      await apps[1].get('/me', other.access_token).expect(401);
      const reported = apps.flatMap((app) => app.sent('token_reuse_detected'));
      expect(reported.map(({ sessionsEnded }) => sessionsEnded)).toEqual([2]);
      const rows = await apps[0].dataSource.query(`SELECT event FROM auth_events WHERE event = 'token_reuse'`);
      expect(rows).toHaveLength(1);
    },
  );
});
