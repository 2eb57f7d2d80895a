import { SESSION_ENDS, type ClientEventName } from './events.js';
import type { Settings } from './options.js';
import { parseJson, recordOf } from './wire.js';

/** A message to the other tabs. It contains no token: each tab reads its storage, or refreshes its own tokens. */
export interface TabMessage {
  readonly event: ClientEventName;
  readonly sessionId: string;
  /** The generation of the new tokens, or of the last tokens of a session that has ended. */
  readonly generation: number;
}

/** A channel to the other tabs. Delivery is not guaranteed. */
export interface TabChannel {
  post(message: TabMessage): void;
  close(): void;
}

/** Opens the channel that fits the storage and the platform. */
export function openChannel(
  { storage, name, environment: { openBroadcast, localStorage, onStorage } }: Settings,
  receive: (message: TabMessage) => void,
): TabChannel {
  const deliver = (data: unknown): unknown => isMessage(data) && receive(data);
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

/** Returns whether the data is a message. Other tabs may run a different version of the client. */
function isMessage(data: unknown): data is TabMessage {
  const { event, sessionId, generation } = recordOf(data);
  return EVENTS.includes(event) && typeof sessionId === 'string' && typeof generation === 'number';
}
