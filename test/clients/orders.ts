import { Body, Controller, Get, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiProperty } from '@nestjs/swagger';
import { BearerAuthGuard } from 'nestjs-session-auth';
import { storiesOnBothPlatforms, type Stage } from '../e2e/stories';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/host';
import { BOTH_TRANSPORTS, Page, TRANSPORTS, type TransportName } from './page';

export const TTL = 15 * MINUTE;

class Order {
  @ApiProperty()
  item!: string;
}

@Controller('orders')
@UseGuards(BearerAuthGuard)
@ApiBearerAuth()
export class OrdersController {
  readonly orders: Order[] = [];

  @Get()
  @ApiOkResponse({ type: [Order] })
  list(): Order[] {
    return this.orders;
  }

  @Post()
  @ApiCreatedResponse({ type: Order })
  create(@Body() order: Order): Order {
    this.orders.push(order);
    return order;
  }
}

/** A library that sends requests, in a page. Each call returns the status, or the code of a `ClientError`. */
export interface Library {
  list(): Promise<number | string>;
  create(item: string): Promise<number | string>;
}

interface Expected {
  /** The outcome of a request after the end of the session. */
  readonly ended: number | string;
}

/** What a page does with a library, in both transports. */
export function libraryStories(
  name: string,
  expected: Expected,
  use: (page: Page) => Library,
  more: (at: Stage, transport: TransportName) => void = () => undefined,
): void {
  describe.each(TRANSPORTS)(`${name} with the transport %s`, (transport) => {
    storiesOnBothPlatforms(name, { auth: BOTH_TRANSPORTS, controllers: [OrdersController] }, (at) => {
      let page: Page;
      let library: Library;

      beforeEach(async () => {
        page = new Page(at, transport);
        library = use(page);
        await page.client.login('alice', PASSWORD);
        at.host.app.get(OrdersController).orders.length = 0;
      });

      it('sends requests with the session', async () => {
        expect([await library.create('tea'), await library.list()]).toEqual([201, 200]);
        expect(at.host.app.get(OrdersController).orders).toEqual([{ item: 'tea' }]);
        expect(await page.refreshes()).toBe(0);
      });

      it('refreshes after a 401 and repeats the request with its body', async () => {
        for (const item of ['tea', 'coffee']) {
          at.host.clock.advance(TTL);
          expect(await library.create(item)).toBe(201);
        }
        expect(at.host.app.get(OrdersController).orders).toEqual([{ item: 'tea' }, { item: 'coffee' }]);
        expect(await page.refreshes()).toBe(2);
      });

      it('refreshes once for five parallel requests', async () => {
        at.host.clock.advance(TTL);
        const statuses = await Promise.all(Array.from({ length: 5 }, () => library.list()));
        expect(statuses).toEqual([200, 200, 200, 200, 200]);
        expect(await page.refreshes()).toBe(1);
      });

      it('repeats nothing after the end of the session, which is reported once', async () => {
        const { access_token: token } = await at.host.login();
        await at.host.post('/auth/logout/all', token).expect(200);
        const before = page.browser.bodies.length;
        expect(await library.list()).toBe(expected.ended);
        expect(page.ends.map(({ reason }) => reason)).toEqual(['signedOutElsewhere']);
        // The request, and the refresh that is refused.
        expect(page.browser.bodies.length - before).toBe(2);
      });

      more(at, transport);
    });
  });
}
