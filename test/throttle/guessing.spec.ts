import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import type { TestApplication } from '../support/test-application';

describeOnEachDatabase('password guessing', {}, (env: TestEnvironment) => {
  it("a guesser's failed logins for one name are not reset by the guesser's successful login under another name", async () => {
    const guess = (app: TestApplication) => app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' });
    for (let times = 0; times < 10; times++) {
      await guess(env.app).expect(400);
      await env.app.login('bob');
    }
    await guess(env.app).expect(429);
  });
});
