import { Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from 'nestjs-session-auth';
import type { Settings } from './read-settings';

/** Injects the settings of the sample. */
export const SETTINGS = 'SAMPLE_SETTINGS';

/** What the client in the page is told, so that it fits the server; and whom it may sign in as, where everybody knows that. */
@Injectable()
export class PageSettings {
  readonly told: object;

  constructor(
    @Inject(SETTINGS) { authOptions, users, usersAreDefault }: Settings,
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
  ) {
    this.told = {
      auth_path: authOptions['path'] ?? 'auth',
      access_token_ttl_seconds: options.accessTokenTtlSeconds,
      refresh_reuse_grace_seconds: options.refreshReuseGraceSeconds,
      rotates_refresh_tokens: options.rotateRefreshTokens,
      users: usersAreDefault ? users : [],
    };
  }
}
