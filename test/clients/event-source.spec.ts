import { codeOf } from '../docs/run-block';

/** A double of the browser's `EventSource`, which Node.js lacks. */
class FakeEventSource {
  static readonly CLOSED = 2;
  static readonly opened: FakeEventSource[] = [];
  readyState = 1;
  onopen = (): void => undefined;
  onmessage: (event: unknown) => void = () => undefined;
  onerror = (): void => undefined;

  constructor(readonly url: string) {
    FakeEventSource.opened.push(this);
  }

  close(): void {
    this.readyState = FakeEventSource.CLOSED;
  }

  /** Ends, as after a 401, or as after a lost connection, which the browser opens again. */
  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('the recipe for EventSource refreshes once after a refusal, and leaves lost connections to the browser', async () => {
  Object.assign(globalThis, { EventSource: FakeEventSource });
  const refresh = jest.fn(() => Promise.resolve());
  type Listen = (url: string, receive: (event: unknown) => void) => () => void;
  const modules = { './client.js': { client: { refresh } } };
  const { listen } = codeOf('docs/client-libraries.md')<{ listen: Listen }>('## EventSource', { modules });
  const received: unknown[] = [];
  const stop = listen('https://api.example.com/events', (event) => received.push(event));
  const last = () => FakeEventSource.opened.at(-1)!;
  const counts = async () => (await settled(), [FakeEventSource.opened.length, refresh.mock.calls.length]);
  last().fail(0);
  expect(await counts()).toEqual([1, 0]);
  last().fail(FakeEventSource.CLOSED);
  expect(await counts()).toEqual([2, 1]);
  last().onmessage('news');
  // Refused again: the session has ended.
  last().fail(FakeEventSource.CLOSED);
  expect(await counts()).toEqual([2, 1]);
  stop();
  expect([received, last().readyState]).toEqual([['news'], FakeEventSource.CLOSED]);
});
