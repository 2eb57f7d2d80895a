import { Body, Controller, Get, Post, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOkResponse, ApiProperty } from '@nestjs/swagger';
import { BearerAuthGuard } from 'nestjs-session-auth';
import { describeOnBothPlatforms, type TestEnvironment } from '../support/environment';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/test-application';
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

/** An HTTP library in a page. Each call returns the status, or the code of a `ClientError`. */
export interface HttpLibrary {
  list(): Promise<number | string>;
  create(item: string): Promise<number | string>;
}

interface Expected {
  /** The result of a request after the session has ended. */
  readonly ended: number | string;
}

/** Tests of an HTTP library in a page, with both transports. */
export function describeHttpLibrary(
  name: string,
  expected: Expected,
  use: (page: Page) => HttpLibrary,
  defineMoreTests: (env: TestEnvironment, transport: TransportName) => void = () => undefined,
): void {
  describe.each(TRANSPORTS)(`${name} with the transport %s`, (transport) => {
    describeOnBothPlatforms(name, { auth: BOTH_TRANSPORTS, controllers: [OrdersController] }, (env) => {
      let page: Page;
      let library: HttpLibrary;

      beforeEach(async () => {
        page = new Page(env, transport);
        library = use(page);
        await page.client.login('alice', PASSWORD);
        env.app.nest.get(OrdersController).orders.length = 0;
      });

      it('requests are sent with the session', async () => {
        expect([await library.create('tea'), await library.list()]).toEqual([201, 200]);
        expect(env.app.nest.get(OrdersController).orders).toEqual([{ item: 'tea' }]);
        expect(await page.refreshes()).toBe(0);
      });

      it('a 401 causes a refresh, and the request is repeated with its body', async () => {
        for (const item of ['tea', 'coffee']) {
          env.app.clock.advance(TTL);
          expect(await library.create(item)).toBe(201);
        }
        expect(env.app.nest.get(OrdersController).orders).toEqual([{ item: 'tea' }, { item: 'coffee' }]);
        expect(await page.refreshes()).toBe(2);
      });

      it('five parallel requests cause one refresh', async () => {
        env.app.clock.advance(TTL);
        const statuses = await Promise.all(Array.from({ length: 5 }, () => library.list()));
        expect(statuses).toEqual([200, 200, 200, 200, 200]);
        expect(await page.refreshes()).toBe(1);
      });

      it('no request is repeated after the session has ended, and the end is reported once', async () => {
        const { access_token: token } = await env.app.login();
        await env.app.post('/auth/logout/all', token).expect(200);
        const before = page.browser.bodies.length;
        expect(await library.list()).toBe(expected.ended);
        expect(page.ends.map(({ reason }) => reason)).toEqual(['signedOutElsewhere']);
        // The page sent only the request and the refused refresh.
        expect(page.browser.bodies.length - before).toBe(2);
      });

      defineMoreTests(env, transport);
    });
  });
}
