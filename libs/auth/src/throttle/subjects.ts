import { Inject, Injectable } from '@nestjs/common';
import type { StoredUser, UserId } from '../adapters/user-store';
import { foldName } from '../base/fields';
import { sha256 } from '../base/random';
import type { JoinedTransaction } from '../database/joined-transaction';
import type { Step } from '../database/transaction';
import type { Client } from '../history/client';
import type { BlockScope } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { PASSWORD_METHOD } from './limits';

/** A number of consecutive failures. The keys are digests, so that networks and names are not stored as plain text. */
export interface Counter {
  readonly key: string;
  /** The digest by which all counters of a user, or of an unknown name, are reset. */
  readonly owner: string;
  readonly scope: BlockScope;
}

/** What an attempt counts against. */
export interface Subject {
  /** One or two counters, in the order in which their rows are locked. */
  readonly counters: readonly Counter[];
  readonly method: string;
  /** The name as it was entered, or the name of the user. */
  readonly name: string;
  readonly user: StoredUser | null;
  /** Counts the attempt for a login ticket, or checks the session. Begins the transaction of the charge. */
  readonly begin?: () => Step<void>;
  /** Takes the count of the login ticket back. */
  readonly takeBack?: () => Step<void>;
  /** Ends the session, after the 100th failure. */
  readonly endSession?: (tx: JoinedTransaction | null) => Promise<unknown>;
}

/** Derives what attempts count against, and the owners of their counters. */
@Injectable()
export class Subjects {
  constructor(@Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions) {}

  /** Returns what a login by password counts against. @param user the user with the entered name, or null */
  ofPassword(name: string, user: StoredUser | null, { network }: Client): Subject {
    const account = user ? `user\0${String(user.id)}` : this.unknownAccount(name);
    const counters = this.ofLogin(account, user ? this.ownerOf(user.id) : this.ownerOfUnknown(name), network);
    return { counters, method: PASSWORD_METHOD, name, user };
  }

  /** Returns what an attempt with a login ticket counts against. */
  ofMethod(method: string, user: StoredUser, client: Client): Subject {
    if (method === PASSWORD_METHOD) return this.ofPassword(user.username, user, client);
    const counters = this.ofLogin(methodAccount(method, user.id), this.ownerOf(user.id), client.network);
    return { counters, method, name: user.username, user };
  }

  /**
   * Returns what an attempt within a session counts against. Failures from all networks count together, so that an
   * attacker with a stolen session gets no more guesses by changing networks. Methods other than the password also
   * count per user, so that the attacker gets no more guesses by opening further sessions.
   */
  inSession(sessionId: string, method: string, user: StoredUser): Subject {
    const key = sha256(`session\0${sessionId}\0${method}`);
    const session: Counter = { key, owner: this.ownerOfSessions(user.id), scope: 'session' };
    const ofUser = this.acrossNetworks(methodAccount(method, user.id), this.ownerOf(user.id));
    const counters = method === PASSWORD_METHOD ? [session] : [session, ofUser];
    return { counters, method, name: user.username, user };
  }

  /** Returns the owner of a user's counters, except those within sessions. */
  ownerOf(id: UserId): string {
    return sha256(`*\0user\0${String(id)}`);
  }

  /** Returns the owner of the counters within a user's sessions. */
  ownerOfSessions(id: UserId): string {
    return sha256(`sessions\0${String(id)}`);
  }

  /** Returns the owner of the counters of a name that belongs to no user. */
  ownerOfUnknown(name: string): string {
    return sha256(`*\0${this.unknownAccount(name)}`);
  }

  /** The prefix differs from that of users, so that no name can be a user's account. */
  private unknownAccount(name: string): string {
    return `name\0${foldName(name, this.options.nameMatching)}`;
  }

  private ofLogin(account: string, owner: string, network: string): readonly Counter[] {
    const key = sha256(`${network}\0${account}`);
    return [{ key, owner, scope: 'network' }, this.acrossNetworks(account, owner)];
  }

  private acrossNetworks(account: string, owner: string): Counter {
    return { key: sha256(`*\0${account}`), owner, scope: 'account' };
  }
}

function methodAccount(method: string, id: UserId): string {
  return `method\0${method}\0${String(id)}`;
}
