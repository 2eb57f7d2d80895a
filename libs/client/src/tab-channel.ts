import type { EndEvent } from './events.js';
import type { Settings } from './options.js';
import { isTokens, type Tokens } from './token-storage.js';
import { parseJson, recordOf } from './wire.js';

/** A message between tabs of one origin. */
export type TabMessage =
  | { readonly kind: 'renewed'; readonly tokens: Tokens }
  /** Asks for tokens of this session that are newer than this generation. */
  | { readonly kind: 'wanted'; readonly sessionId: string; readonly generation: number }
  | { readonly kind: 'ended'; readonly sessionId: string; readonly event: EndEvent };

/** Sends to the other tabs, never to its own. Delivery is not guaranteed. */
export interface TabChannel {
  post(message: TabMessage): void;
  close(): void;
}

/** Opens the channel that fits the reach of the storage and the platform. */
export function openChannel(
  { storage, name, environment: { openBroadcast, localStorage, onStorage } }: Settings,
  receive: (message: TabMessage) => void,
): TabChannel {
  const deliver = (data: unknown): void => {
    if (isMessage(data)) receive(data);
  };
  if (storage.reach !== 'client' && openBroadcast) {
    const channel = openBroadcast(name);
    channel.onmessage = ({ data }) => deliver(data);
    return { post: (message) => channel.postMessage(message), close: () => channel.close() };
  }
  if (storage.reach === 'client' || !localStorage || !onStorage) {
    return { post: () => undefined, close: () => undefined };
  }
  const key = `${name}:message`;
  const close = onStorage((changed, value) => {
    if (changed === key) deliver(parseJson(value));
  });
  return {
    post(message) {
      // Tokens are stored where the application chose, and nowhere else.
      if (message.kind === 'renewed') return;
      localStorage.setItem(key, JSON.stringify(message));
      localStorage.removeItem(key);
    },
    close,
  };
}

const ENDS: readonly unknown[] = ['signedOut', 'signedOutElsewhere', 'signInNeeded'] satisfies EndEvent[];

/** Other tabs may run another version of the client. */
function isMessage(data: unknown): data is TabMessage {
  const { kind, tokens, sessionId, generation, event } = recordOf(data);
  if (kind === 'renewed') return isTokens(tokens);
  if (typeof sessionId !== 'string') return false;
  return kind === 'wanted' ? typeof generation === 'number' : kind === 'ended' && ENDS.includes(event);
}
