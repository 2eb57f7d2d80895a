import { AuthUser } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { EntityManager } from 'typeorm';
import { startApplication } from './application.js';

it('npm start creates no user in production, because the password of the user is published', async () => {
  process.env['NODE_ENV'] = 'production';
  const { app } = await startApplication();
  after(() => app.close());
  assert.equal(await app.get(EntityManager).count(AuthUser), 0);
});
