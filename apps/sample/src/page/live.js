import { client } from './session.js';

const SILENCE_TIMEOUT_MS = 40_000;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * Keeps the page up to date with the event stream of the server. One tab holds the stream and forwards
 * its events to the other tabs, because over HTTP/1.1 all tabs share six connections to a server.
 * @param {() => boolean} isSignedIn returns whether the page shows a session. This is not `client.isSignedIn`,
 *   because with cookies that method may send a request
 * @param {() => void} onChange called when the user's sessions may have changed
 * @param {(isLive: boolean) => void} onStatus called when the stream opens or closes
 */
export function follow(isSignedIn, onChange, onStatus) {
  const tabs = new BroadcastChannel('sample-live');
  tabs.onmessage = ({ data }) => {
    if (data !== 'ask') receive(data);
    else if (isHolder) tabs.postMessage(isLive);
  };
  let [isHolder, isLive] = [false, false];
  /** @param {unknown} data */
  const receive = (data) => {
    if (data === 'changed') return onChange();
    onStatus(data === true);
  };
  /** @param {boolean | 'changed'} data */
  const broadcast = (data) => {
    if (data !== 'changed') isLive = data;
    receive(data);
    tabs.postMessage(data);
  };
  const hold = () => {
    isHolder = true;
    return holdStream(isSignedIn, broadcast);
  };
  // Web Locks require a secure context. Without them, each tab opens its own stream.
  void (navigator.locks ? navigator.locks.request('sample-live', hold) : hold());
  tabs.postMessage('ask');
}

/**
 * Opens the stream whenever the page shows a session, and reopens the stream when it ends.
 * @param {() => boolean} isSignedIn
 * @param {(data: boolean | 'changed') => void} broadcast
 * @returns {Promise<never>}
 */
async function holdStream(isSignedIn, broadcast) {
  for (let pause = MIN_RETRY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_MS)) {
    if (isSignedIn()) {
      await readStream((event) => {
        if (event === 'heartbeat') return;
        pause = MIN_RETRY_MS;
        if (event === 'open') broadcast(true);
        broadcast('changed');
      }).catch(() => undefined);
      broadcast(false);
    } else {
      pause = MIN_RETRY_MS;
    }
    await waitForRetry(pause);
  }
}

/**
 * Reads the stream until it ends, or until nothing has arrived for 40 seconds. When a computer wakes
 * from sleep, the connection may be gone without an error.
 * @param {(event: string) => void} onEvent
 */
async function readStream(onEvent) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(abort, SILENCE_TIMEOUT_MS);
  // A stream belongs to one session. The next session needs a new stream.
  const stop = client.onSessionEnd(abort);
  try {
    const { ok, body } = await client.fetch('/session-events', { signal: controller.signal });
    if (!ok || !body) return;
    let rest = '';
    for (const reader = body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_TIMEOUT_MS);
      const events = (rest + value).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) onEvent(/^event: ?(.*)$/m.exec(event)?.[1] ?? '');
    }
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/**
 * Resolves after the pause, or earlier if the network is back, a user signs in, or the page becomes
 * visible.
 * @param {number} pause
 */
function waitForRetry(pause) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const [target, name] of RETRY_EVENTS) target.removeEventListener(name, done);
      resolve(undefined);
    };
    const timer = setTimeout(done, pause);
    for (const [target, name] of RETRY_EVENTS) target.addEventListener(name, done);
  });
}

const RETRY_EVENTS = /** @type {readonly (readonly [EventTarget, string])[]} */ ([
  [window, 'online'],
  [window, 'signedin'],
  [window, 'storage'],
  [document, 'visibilitychange'],
]);
