import { createAlice, startProvider } from './provider.js';

// Starts a provider, and then the application. As in production, the application reads the issuer
// and its client id and secret from environment variables.
const port = Number(process.env['PORT'] ?? 3000);
const client = {
  clientId: 'example',
  clientSecret: 'a secret for development only',
  origin: `http://localhost:${port}`,
};
if (process.env['NODE_ENV'] === 'production') {
  throw new Error('This start also runs a provider that signs in anybody. Start with "npm run start:prod".');
}
const { issuer } = await startProvider(client, port + 1);
process.env['DB'] ??= 'development.sqlite';
process.env['ORIGIN'] = client.origin;
process.env['OIDC_ISSUER'] = issuer;
process.env['OIDC_CLIENT_ID'] = client.clientId;
process.env['OIDC_CLIENT_SECRET'] = client.clientSecret;
const { app } = await import('../src/main.js');
await createAlice(app);
console.log(`Open ${client.origin}`);
