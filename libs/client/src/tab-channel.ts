import { SESSION_ENDS, type ClientEventName } from './events.js';
import type { Settings } from './options.js';
import { parseJson, recordOf } from './wire.js';

/** What a tab reports to the others, without any token: each reads its storage, or refreshes. */
export interface TabMessage {
  readonly event: ClientEventName;
  readonly sessionId: string;
  /** That of the tokens which are new, or with which the session has ended. */
  readonly generation: number;
}

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
  const key = `${name}:message`;
  const shared = storage.reach === 'client' ? null : localStorage;
  const close = shared && onStorage?.((changed, value) => changed === key && deliver(parseJson(value)));
  return {
    post(message) {
      shared?.setItem(key, JSON.stringify(message));
      shared?.removeItem(key);
    },
    close: () => close?.(),
  };
}

const EVENTS: readonly unknown[] = ['refreshed', ...SESSION_ENDS];

/** Other tabs may run another version of the client. */
function isMessage(data: unknown): data is TabMessage {
  const { event, sessionId, generation } = recordOf(data);
  return EVENTS.includes(event) && typeof sessionId === 'string' && typeof generation === 'number';
}
