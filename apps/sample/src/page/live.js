import { client } from './session.js';

const SILENT_FOR_MS = 40_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

const ENDS = /** @type {const} */ (['signedOut', 'signedOutElsewhere', 'signInNeeded']);

/**
 * Keeps the page up to date by the stream of the host's. One tab holds the stream and tells the others: a browser has six connections
 * to a server that speaks HTTP/1.1, for all of its tabs.
 * @param {() => void} changed something has happened to the user's sessions, or may have
 * @param {(isLive: boolean) => void} tell
 */
export function follow(changed, tell) {
  const tabs = new BroadcastChannel('sample-live');
  tabs.onmessage = ({ data }) => {
    if (data !== 'ask') hear(data);
    else if (isHolder) tabs.postMessage(isLive);
  };
  let [isHolder, isLive] = [false, false];
  /** @param {unknown} data */
  const hear = (data) => {
    if (data === 'changed') return changed();
    tell(data === true);
  };
  /** @param {boolean | 'changed'} data */
  const toAll = (data) => {
    if (data !== 'changed') isLive = data;
    hear(data);
    tabs.postMessage(data);
  };
  const hold = () => {
    isHolder = true;
    return holdStream(toAll);
  };
  // Without TLS there may be no Web Locks: then each tab has a stream.
  void (navigator.locks ? navigator.locks.request('sample-live', hold) : hold());
  tabs.postMessage('ask');
}

/**
 * @param {(data: boolean | 'changed') => void} toAll
 * @returns {Promise<never>}
 */
async function holdStream(toAll) {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    if (await client.isSignedIn()) {
      await readStream((event) => {
        if (event === 'heartbeat') return;
        pause = FIRST_PAUSE_MS;
        if (event === 'open') toAll(true);
        toAll('changed');
      }).catch(() => undefined);
      toAll(false);
    } else {
      pause = FIRST_PAUSE_MS;
    }
    await nextTry(pause);
  }
}

/**
 * Reads the stream until it ends, or until nothing is heard of it any longer: after a sleep, a connection may be gone without a word.
 * @param {(event: string) => void} hear
 */
async function readStream(hear) {
  const over = new AbortController();
  const abort = () => over.abort();
  let timer = setTimeout(abort, SILENT_FOR_MS);
  // Whoever signs in next needs a stream of their own.
  const ends = ENDS.map((name) => client.on(name, abort));
  try {
    const { ok, body } = await client.fetch('/session-events', { signal: over.signal });
    if (!ok || !body) return;
    let rest = '';
    for (const reader = body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(abort, SILENT_FOR_MS);
      const events = (rest + value).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) hear(/^event: ?(.*)$/m.exec(event)?.[1] ?? '');
    }
  } finally {
    clearTimeout(timer);
    for (const stop of ends) stop();
  }
}

/**
 * After a pause; at once when the network is back, somebody signs in, or the page is looked at again.
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
