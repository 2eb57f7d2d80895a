import { AuthClient, localTokens } from 'nestjs-session-auth-client';

const usesTokens = import.meta.env['VITE_TRANSPORT'] === 'bearer';

export const client = new AuthClient({
  authPath: 'api/auth',
  refreshReuseGraceSeconds: 10, // as on the server
  ...(usesTokens ? { storage: localTokens() } : { transport: 'cookie' }),
});
