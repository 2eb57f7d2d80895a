import { Controller, Get, Header, NotFoundException, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public } from 'nestjs-session-auth';
import { PageFiles, type PageFile } from './page-files';
import { PageSettings } from './page-settings';

/** Nothing but the host's own files runs or is loaded, and no script makes markup out of text. */
const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};

/** What is open to everybody: the page in a browser, and a word of welcome for everything else. */
@Controller()
@Public()
export class PageController {
  constructor(
    private readonly files: PageFiles,
    private readonly settings: PageSettings,
  ) {}

  @Get()
  @Header('Vary', 'Accept')
  welcome(@Req() request: Request, @Res() response: Response): void {
    if (request.accepts(['json', 'html']) === 'html') {
      response.set(PAGE_HEADERS);
      send(response, this.files.find('page', 'index.html'));
    } else {
      response.json({ service: 'nestjs-session-auth sample', log_in_at: '/auth/login/' });
    }
  }

  /** What the page has to know of the server. */
  @Get('page-settings')
  @Header('Cache-Control', 'no-store')
  tellSettings(): object {
    return this.settings.told;
  }

  @Get('page/:name')
  page(@Param('name') name: string, @Res() response: Response): void {
    send(response, this.files.find('page', name));
  }

  @Get('client/:name')
  client(@Param('name') name: string, @Res() response: Response): void {
    send(response, this.files.find('client', name));
  }
}

/** With an ETag of Express's: a browser asks each time, and loads what has changed. */
function send(response: Response, file: PageFile | undefined): void {
  if (!file) throw new NotFoundException();
  response.set({ 'Content-Type': file.type, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
  response.send(file.content);
}
