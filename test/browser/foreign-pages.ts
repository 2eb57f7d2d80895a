import { once } from 'node:events';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { createCertificate } from './generated-files';

/** Serves empty pages of other hosts, which an attacker controls. */
export class ForeignPages {
  private constructor(
    private readonly scheme: 'http' | 'https',
    private readonly server: Server,
  ) {}

  static async start(scheme: 'http' | 'https'): Promise<ForeignPages> {
    const server = scheme === 'https' ? createServer(createCertificate()) : createPlainServer();
    server.on('request', (_request, response) =>
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>x</title>'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ForeignPages(scheme, server);
  }

  async open(context: BrowserContext, host: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${this.scheme}://${host}:${(this.server.address() as AddressInfo).port}/`);
    return page;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export async function postForm(page: Page, action: string, name = 'x'): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.evaluate(`(() => {
    const form = document.createElement('form');
    Object.assign(form, ${JSON.stringify({ method: 'POST', enctype: 'text/plain', action })});
    form.append(Object.assign(document.createElement('input'), ${JSON.stringify({ name, value: '"}' })}));
    document.body.append(form);
    form.submit();
  })()`);
  await loaded;
}

/**
 * Returns the result of a `fetch` by a script: the status, 0 for a response that the script may not read, or
 * 'failed'.
 */
export function fetchFrom(page: Page, url: string, init: object): Promise<number | 'failed'> {
  const call = `fetch(${JSON.stringify(url)}, ${JSON.stringify({ credentials: 'include', ...init })})`;
  return page.evaluate(`${call}.then(({ status }) => status, () => 'failed')`);
}
