import { Controller, Get, Header, Inject, NotFoundException, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public } from 'nestjs-session-auth';
import { PageFiles, type PageFile } from './page-files';
import { PageSettings, SETTINGS } from './page-settings';
import type { Settings } from './read-settings';

/** Allows the page to load only the application's own files, and prevents scripts from turning text into HTML. */
const pageHeaders = (apiOrigin: string | null): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${apiOrigin ?? ''}`.trimEnd(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
});

/** The public routes. `GET /` returns the page to browsers, and JSON to other clients. */
@Controller()
@Public()
export class PageController {
  constructor(
    private readonly files: PageFiles,
    private readonly pageSettings: PageSettings,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Get()
  @Header('Vary', 'Accept')
  welcome(@Req() request: Request, @Res() response: Response): void {
    if (request.accepts(['json', 'html']) === 'html') {
      response.set(pageHeaders(this.settings.apiOrigin));
      send(response, this.files.find('page', 'index.html'));
    } else {
      response.json({ service: 'nestjs-session-auth sample', log_in_at: '/auth/login/' });
    }
  }

  /** Returns the settings of the page. */
  @Get('page-settings')
  @Header('Cache-Control', 'no-store')
  settingsFor(@Req() request: Request): object {
    return this.pageSettings.for(request);
  }

  /** Sends a file of the page. `GET /` sends the page itself, with its headers. */
  @Get('page/:name')
  page(@Param('name') name: string, @Res() response: Response): void {
    send(response, name === 'index.html' ? undefined : this.files.find('page', name));
  }

  @Get('client/:name')
  client(@Param('name') name: string, @Res() response: Response): void {
    send(response, this.files.find('client', name));
  }
}

/** Sends a file. Browsers revalidate it at each load, with the ETag that Express adds. */
function send(response: Response, file: PageFile | undefined): void {
  if (!file) throw new NotFoundException();
  response.set({ 'Content-Type': file.type, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
  response.send(file.content);
}
