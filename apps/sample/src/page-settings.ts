import { Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from 'nestjs-session-auth';
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
  readonly published: object;

  constructor(
    @Inject(SETTINGS) { apiOrigin, authOptions, users, usersAreDefault }: Settings,
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
  ) {
    this.published = {
      api_origin: apiOrigin,
      auth_path: authOptions['path'] ?? 'auth',
      access_token_ttl_seconds: options.accessTokenTtlSeconds,
      // Null means the default, which differs between bearer tokens and cookies. The client knows both defaults.
      refresh_reuse_grace_seconds: options.refreshReuseGraceSeconds ?? null,
      rotates_refresh_tokens: options.rotateRefreshTokens,
      cookie_mode: options.cookies.mode,
      cookie_names: cookieNames(options),
      users: usersAreDefault ? users : [],
    };
  }
}
