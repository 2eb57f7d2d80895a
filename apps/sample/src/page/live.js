import { client } from './session.js';

const SILENT_FOR_MS = 40_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Keeps the page up to date by the server's event stream. One tab holds the stream and broadcasts
 * to the others: over HTTP/1.1 a browser has six connections to a server, for all of its tabs.
 * @param {() => boolean} isSignedIn whether the page shows a session: with cookies, the client would ask the server
 * @param {() => void} onChange called when the user's sessions have changed, or may have
 * @param {(isLive: boolean) => void} onStatus
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
  // Without TLS there may be no Web Locks. Then each tab has its own stream.
  void (navigator.locks ? navigator.locks.request('sample-live', hold) : hold());
  tabs.postMessage('ask');
}

/**
 * @param {() => boolean} isSignedIn
 * @param {(data: boolean | 'changed') => void} broadcast
 * @returns {Promise<never>}
 */
async function holdStream(isSignedIn, broadcast) {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    if (isSignedIn()) {
      await readStream((event) => {
        if (event === 'heartbeat') return;
        pause = FIRST_PAUSE_MS;
        if (event === 'open') broadcast(true);
        broadcast('changed');
      }).catch(() => undefined);
      broadcast(false);
    } else {
      pause = FIRST_PAUSE_MS;
    }
    await nextTry(pause);
  }
}

/**
 * Reads the stream until it ends or is silent for too long: after a sleep, a connection may be gone
 * without an error.
 * @param {(event: string) => void} onEvent
 */
async function readStream(onEvent) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer = setTimeout(abort, SILENT_FOR_MS);
  // The next user needs another stream.
  const stop = client.onSessionEnd(abort);
  try {
    const { ok, body } = await client.fetch('/session-events', { signal: controller.signal });
    if (!ok || !body) return;
    let rest = '';
    for (const reader = body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(abort, SILENT_FOR_MS);
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
 * Resolves after a pause, or when the network is back, a user signs in, or the page becomes
 * visible.
 * @param {number} pause
 */
function nextTry(pause) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const [target, name] of WAKES) target.removeEventListener(name, done);
      resolve(undefined);
    };
    const timer = setTimeout(done, pause);
    for (const [target, name] of WAKES) target.addEventListener(name, done);
  });
}

const WAKES = /** @type {readonly (readonly [EventTarget, string])[]} */ ([
  [window, 'online'],
  [window, 'signedin'],
  [window, 'storage'],
  [document, 'visibilitychange'],
]);
