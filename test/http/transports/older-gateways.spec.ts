import { databaseForTest } from '../../support/start-for-test';
import { TestApplication } from '../../support/test-application';
import { ChatGateway, gatewayOptions } from './chat';

jest.mock('../../../libs/auth/src/base/versions', () => ({
  unsupportedVersions: () => [],
  readManifest: (name: string) => ({ name, version: '11.2.6' }),
}));

it('a gateway that relies on the global guard prevents startup before Nest 12, which ignores it', async () => {
  const options = { ...gatewayOptions(ChatGateway), database: await databaseForTest('sqlite') };
  const error = await TestApplication.startError({ ...options, auth: { globalGuard: true } });
  expect(error).toContain('anyone could send: ChatGateway.handshake. Add @UseGuards(BearerAuthGuard) or @Public()');
});
