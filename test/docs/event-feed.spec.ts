import type { Type } from '@nestjs/common';
import { MINUTE } from '../support/driven-clock';
import { describeApplication } from '../support/environment';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

/** Ignores ids that it has. The next write of the cursor fails if a test says so. */
class Archive {
  readonly sent = new Map<number, string>();
  send(events: readonly { id: number; event: string }[]): void {
    for (const { id, event } of events) this.sent.set(id, event);
  }
}
class Cursor {
  next = 0;
  fails = false;
  read(): number {
    return this.next;
  }
  write(next: number): void {
    if (this.fails) throw new Error('The process ends here.');
    this.next = next;
  }
}

const [block] = blocksUnder('docs/event-feed.md', '## Ship events');
const modules = { './archive.js': { Archive }, './cursor.js': { Cursor } };
const { EventShipper } = runBlock<Record<string, Type<{ run(): Promise<void> }>>>(block!, { modules });

describeApplication('docs/event-feed.md', { providers: [Archive, Cursor, EventShipper!] }, ({ app }) => {
  it('the shipper sends each event, also after it was ended between the events and the cursor', async () => {
    const [archive, cursor, shipper] = [app.nest.get(Archive), app.nest.get(Cursor), app.nest.get(EventShipper!)];
    for (const username of ['alice', 'bob']) await app.login(username);
    app.clock.advance(2 * MINUTE);
    cursor.fails = true;
    await expect(shipper.run()).rejects.toThrow('The process ends here.');
    cursor.fails = false;
    await shipper.run();
    await app.login();
    app.clock.advance(2 * MINUTE);
    await shipper.run();
    expect([...archive.sent.values()]).toEqual(['login_success', 'login_success', 'login_success']);
  });
});
