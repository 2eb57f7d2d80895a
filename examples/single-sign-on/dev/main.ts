import { createAlice, startProvider } from './provider.js';

// Starts a provider, and then the application. As in production, the application reads the issuer
// and its client id and secret from environment variables.
const port = Number(process.env['PORT'] ?? 3000);
const client = {
  clientId: 'example',
  clientSecret: 'a secret for development only',
  origin: `http://localhost:${port}`,
};
const { issuer } = await startProvider(client, port + 1);
// The password of alice is published, so `npm run start:prod` must not find the user in its database.
process.env['DB'] ??= 'development.sqlite';
process.env['ORIGIN'] = client.origin;
process.env['OIDC_ISSUER'] = issuer;
process.env['OIDC_CLIENT_ID'] = client.clientId;
process.env['OIDC_CLIENT_SECRET'] = client.clientSecret;
const { app } = await import('../src/main.js');
await createAlice(app);
console.log(`Open ${client.origin}`);
