import { Inject, Injectable } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from 'nestjs-session-auth';
import type { Settings } from './read-settings';

/** Injects the settings of the sample. */
export const SETTINGS = 'SAMPLE_SETTINGS';

/**
 * What the page gets from the server: the options that its client needs, and the default users and
 * their passwords.
 */
@Injectable()
export class PageSettings {
  readonly published: object;

  constructor(
    @Inject(SETTINGS) { authOptions, users, usersAreDefault }: Settings,
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
  ) {
    this.published = {
      auth_path: authOptions['path'] ?? 'auth',
      access_token_ttl_seconds: options.accessTokenTtlSeconds,
      refresh_reuse_grace_seconds: options.refreshReuseGraceSeconds ?? 0,
      rotates_refresh_tokens: options.rotateRefreshTokens,
      users: usersAreDefault ? users : [],
    };
  }
}
