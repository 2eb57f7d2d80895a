import { stories, type Stage } from '../e2e/stories';
import type { Host } from '../support/host';

stories('guesses at one name', {}, (at: Stage) => {
  it('are not forgotten when the guesser logs in under another name', async () => {
    const guess = (host: Host) => host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' });
    for (let times = 0; times < 10; times++) {
      await guess(at.host).expect(400);
      await at.host.login('bob');
    }
    await guess(at.host).expect(429);
  });
});
