import type { Broadcast, ClientEnvironment, WebStorage } from './environment.js';
import type { EndEvent } from './events.js';
import { isTokens, type TokenStorage, type Tokens } from './token-storage.js';
import { isRecord, parseJson } from './wire.js';

/** What tabs of one origin tell each other. */
export type TabMessage =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  /** Who has tokens of this session that are newer than this generation? */
  | { readonly kind: 'wanted'; readonly sessionId: string; readonly generation: number }
  | { readonly kind: 'ended'; readonly sessionId: string; readonly event: EndEvent };

/** To the other tabs, never to the own one. Nothing is promised to arrive. */
export interface TabChannel {
  post(message: TabMessage): void;
  close(): void;
}

/** The channel that fits the reach of the storage and what there is. */
export function channelFor(
  { reach }: TokenStorage,
  name: string,
  world: ClientEnvironment,
  hear: (message: TabMessage) => void,
): TabChannel {
  if (reach === 'client') return { post: () => undefined, close: () => undefined };
  if (world.openBroadcast) return broadcast(world.openBroadcast(name), hear);
  if (world.localStorage && world.onStorage) {
    return throughStorage(world.localStorage, `${name}:message`, world.onStorage, hear);
  }
  return { post: () => undefined, close: () => undefined };
}

function broadcast(channel: Broadcast, hear: (message: TabMessage) => void): TabChannel {
  channel.onmessage = ({ data }) => {
    if (isMessage(data)) hear(data);
  };
  return { post: (message) => channel.postMessage(message), close: () => channel.close() };
}

/** Where BroadcastChannel is missing: the event that a write to `localStorage` sends to the other tabs. */
function throughStorage(
  storage: WebStorage,
  key: string,
  onStorage: NonNullable<ClientEnvironment['onStorage']>,
  hear: (message: TabMessage) => void,
): TabChannel {
  const close = onStorage((changed, value) => {
    if (changed !== key || value === null) return;
    const message = parseJson(value);
    if (isMessage(message)) hear(message);
  });
  return {
    post(message) {
      // Tokens go where the host has put them and nowhere else.
      if (message.kind === 'renewed') return;
      storage.setItem(key, JSON.stringify(message));
      storage.removeItem(key);
    },
    close,
  };
}

const ENDS: readonly unknown[] = ['signedOut', 'signedOutElsewhere', 'signInNeeded'] satisfies EndEvent[];

/** Other versions of the client may be in other tabs. */
function isMessage(data: unknown): data is TabMessage {
  if (!isRecord(data)) return false;
  if (data['kind'] === 'renewed') return isTokens(data['tokens']);
  if (typeof data['sessionId'] !== 'string') return false;
  if (data['kind'] === 'wanted') return typeof data['generation'] === 'number';
  return data['kind'] === 'ended' && ENDS.includes(data['event']);
}
