import { Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from 'nestjs-session-auth';
import type { Request } from 'express';
import type { Settings } from './read-settings';

/** The injection token of the sample's settings. */
export const SETTINGS = 'SAMPLE_SETTINGS';

/** Returns the names of the cookies that hold the tokens, or null if cookie mode is off. */
export function cookieNames({ cookies: { mode, name, secure } }: ResolvedAuthOptions): {
  readonly access: string;
  readonly refresh: string;
} | null {
  const prefix = secure ? '__Host-' : '';
  return mode === false ? null : { access: `${prefix}${name}_access`, refresh: `${prefix}${name}_refresh` };
}

/** The settings that the page fetches: the options of its client, and the default users with their passwords. */
@Injectable()
export class PageSettings {
  private readonly published: object;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const { apiOrigin, authOptions, users, usersAreDefault } = settings;
    this.published = {
      api_origin: apiOrigin,
      auth_path: authOptions['path'] ?? 'auth',
      access_token_ttl_seconds: options.accessTokenTtlSeconds,
      // Null means the default, which differs between bearer tokens and cookies. The client knows both defaults.
      refresh_reuse_grace_seconds: options.refreshReuseGraceSeconds ?? null,
      rotates_refresh_tokens: options.rotateRefreshTokens,
      remembers_sessions: options.rememberMe.idleTimeoutSeconds !== false,
      cookie_mode: options.cookies.mode,
      cookie_names: cookieNames(options),
      users: usersAreDefault ? users : [],
    };
  }

  /** Returns the settings for the page of a request. */
  for({ headers }: Request): object {
    return { ...this.published, has_session_cookies: this.hasCookies(headers.cookie ?? '') };
  }

  /** Returns whether cookies hold tokens, or null if the API has another origin, to which this request did not go. */
  private hasCookies(header: string): boolean | null {
    if (this.settings.apiOrigin !== null) return null;
    const names = Object.values(cookieNames(this.options) ?? {});
    return header.split('; ').some((cookie) => names.includes(cookie.split('=', 1)[0]!));
  }
}
