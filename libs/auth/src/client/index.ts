// For browsers and for Node: `import { AuthClient } from 'nestjs-session-auth/client'`. It needs nothing else.
export type { AuthClientOptions } from './assemble.js';
export { AuthClient } from './client.js';
export type { Broadcast, ClientClock, ClientEnvironment, WebLocks, WebStorage } from './environment.js';
export { ClientError } from './errors.js';
export type { ClientErrorCode, ClientErrorFacts } from './errors.js';
export type { ClientEventName, ClientEvents } from './events.js';
export type { TabLock } from './tab-lock.js';
export { localTokens, memoryTokens, sessionTokens } from './token-storage.js';
export type { Tokens, TokenStorage } from './token-storage.js';
export type { HistoryEntry, Session, TokenPair } from './wire.js';
