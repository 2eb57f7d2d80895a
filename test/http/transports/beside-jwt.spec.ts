import { Controller, Get, Req } from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import type { FormerTokens } from 'nestjs-session-auth';
import { blocksUnder } from '../../docs/code-blocks';
import { runBlock } from '../../docs/run-block';
import { describeApplication, sendRaw } from '../../support/environment';

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };

const [steps] = blocksUnder('docs/moving-from-jwt.md', '## Steps');
const { JwtTokens } = runBlock<{ JwtTokens: new (jwts: JwtService) => FormerTokens }>(steps!);

@Controller()
class OrdersController {
  @Get('orders')
  orders(@Req() { user }: { readonly user: { readonly id: string } }): object {
    return { of: user.id };
  }
}

const jwtModule = JwtModule.register({
  secret: 'the secret of the application',
  signOptions: { expiresIn: '1h' },
  global: true,
});
const options = {
  imports: [jwtModule],
  controllers: [OrdersController],
  auth: { formerTokens: JwtTokens, globalGuard: true },
};

describeApplication('applications that move from JWTs to sessions', options, ({ app }) => {
  let alice: string;
  let jwts: JwtService;

  beforeEach(async () => {
    alice = await app.userId();
    jwts = app.nest.get(JwtService);
  });

  it('a route accepts JWTs and tokens of the library, until a logout from everywhere refuses both', async () => {
    const { access_token: token } = await app.login();
    const iat = Math.floor(app.clock.now() / 1000);
    const jwt = await jwts.signAsync({ sub: alice, iat }, { expiresIn: '100y' });
    for (const accepted of [jwt, token]) await app.get('/orders', accepted).expect(200, { of: alice });
    app.clock.advance(1000);
    await app.post('/auth/logout/all', token).expect(200);
    for (const refused of [jwt, token]) await app.get('/orders', refused).expect(401, INVALID);
  });

  it('a JWT that is forged or expired is refused like an invalid access token', async () => {
    const [none, payload] = ['{"alg":"none"}', `{"sub":"${alice}"}`].map((text) =>
      Buffer.from(text).toString('base64url'),
    );
    for (const forged of [
      await jwts.signAsync({ sub: alice }, { secret: 'another secret' }),
      await jwts.signAsync({ sub: alice }, { expiresIn: -1 }),
      ...[`${none}.${payload}.`, 'a.b.c', 'abc'],
    ]) {
      await app.get('/orders', forged).expect(401, INVALID);
    }
    const both = [await jwts.signAsync({ sub: alice }), (await app.login()).access_token].map(
      (token) => `Authorization: Bearer ${token}`,
    );
    expect((await sendRaw(app, ['GET /orders HTTP/1.1', ...both.reverse()])).status).toBe(400);
  });
});
