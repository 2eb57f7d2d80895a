// The client for browsers and Node.js. It has no dependencies.
export { AuthClient } from './client.js';
export type { Broadcast, ClientClock, ClientEnvironment, WebLocks, WebStorage } from './environment.js';
export { ClientError, type ClientErrorCode, type ClientErrorFacts } from './errors.js';
export type { ClientEventName, ClientEvents, SessionEnd, SessionEndReason } from './events.js';
export type { TabLock } from './locks.js';
export type { AuthClientOptions } from './options.js';
export { localTokens, memoryTokens, sessionTokens, type Tokens, type TokenStorage } from './token-storage.js';
export type { HistoryEntry, Session, TokenPair } from './wire.js';
