import { Inject, Injectable } from '@nestjs/common';
import { kindOf } from '../adapters/application-calls';
import { isInRealm } from '../adapters/realm';
import { type IdentifiedUser, SecondFactor } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { invalidLoginTicket, secondFactorRequired } from '../base/errors';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, insertion, type Statement, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, firstOf, type Row, rowsOf, type Step } from '../database/transaction';
import { EventLog, newEvent, type Operation } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { InSession } from '../passwords/in-session';
import { HashQueue } from '../passwords/passwords';
import type { AuthPrincipal } from '../sessions/authenticate';
import { EndSessions } from '../sessions/end-sessions';
import { type Identification, OpenSession } from '../sessions/open-session';
import {
  assertMethod,
  assertMethods,
  type GivenProofs,
  isTrue,
  PROOF_COLUMNS,
  proofsFromRow,
  provenMethods,
  storedProofs,
  patchedData,
  withProvenMethods,
  UserLock,
} from '../sessions/session';
import { type Charge, type Subject, Throttle } from '../throttle/throttle';
import { isToken, type OpenedSession, TokenIssuer } from '../tokens/tokens';
import { Users } from '../users/users';

/** The number of failed attempts after which a ticket is revoked. */
const MAX_TICKET_FAILURES = 5;

const MAX_TICKETS = 20;

const INSERTED =
  'digest userId networkDigest credentialsVersion methods data remembered failureCount createdAt expiresAt';

/**
 * Issues login tickets after the first factor, adds further factors to them, and opens sessions with them. A ticket is
 * valid only while the version of the user's credentials is the one that the ticket stores.
 */
@Injectable()
export class LoginTickets {
  private readonly sql;

  constructor(
    private readonly users: Users,
    private readonly secondFactor: SecondFactor,
    private readonly tokens: TokenIssuer,
    private readonly endSessions: EndSessions,
    private readonly opening: OpenSession,
    private readonly inSession: InSession,
    private readonly queue: HashQueue,
    private readonly throttle: Throttle,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly lock: UserLock,
    private readonly events: EventLog,
    statements: StatementFactory,
    @Inject(AUTH_OPTIONS) { realm }: ResolvedAuthOptions,
  ) {
    const realmColumn = realm ? ' realm' : '';
    const withoutRealm = realm ? '' : 'AND {ticket.realm} IS NULL';
    const read = `userId credentialsVersion remembered ${PROOF_COLUMNS}${realmColumn}`;
    const isValid = `{ticket.expiresAt} > :now AND {ticket.failureCount} < ${MAX_TICKET_FAILURES} ${withoutRealm}`;
    const presented = `{ticket.digest} = :digest AND {ticket.userId} = :userId AND {ticket.methods} = :methods
      AND ${isValid}`;
    const addFailures = (step: string, condition: string): Statement =>
      statements.statement(
        `UPDATE {ticket} SET {ticket.failureCount} = {ticket.failureCount} ${step}
         WHERE {ticket.digest} = :digest AND ${condition}`,
      );
    this.sql = {
      insert: statements.statement(insertion('ticket', INSERTED + realmColumn)),
      /** Reads the row of the user's lock with the unexpired tickets, newest first. */
      readLive: statements.statement(
        `SELECT s.{lock.credentialsVersion} AS version, ${columns('ticket', 'digest networkDigest failureCount', 't.')}
         FROM {lock} s LEFT JOIN {ticket} t ON t.{ticket.userId} = s.{lock.userId} AND t.{ticket.expiresAt} > :now
         WHERE s.{lock.userId} = :userId ORDER BY t.{ticket.createdAt} DESC, t.{ticket.digest}`,
      ),
      remove: statements.statement(
        'DELETE FROM {ticket} WHERE {ticket.userId} = :userId AND {ticket.digest} IN (:digests...)',
      ),
      find: statements.statement(
        `SELECT ${columns('ticket', read)} FROM {ticket} WHERE {ticket.digest} = :digest AND ${isValid}`,
      ),
      readPresented: statements.statement(`SELECT 1 AS valid FROM {ticket} WHERE ${presented}`),
      consumePresented: statements.statement(`DELETE FROM {ticket} WHERE ${presented}`),
      countAttempt: addFailures('+ 1', isValid),
      takeBackAttempt: addFailures('- 1', '{ticket.failureCount} > 0'),
      /** The failures include the attempt whose proof is being stored, so the ticket may have reached the limit. */
      lockProven: statements.statement(
        `SELECT {ticket.methods} AS methods FROM {ticket}
         WHERE {ticket.digest} = :digest AND {ticket.expiresAt} > :now ${forUpdate(statements.dialect)}`,
      ),
      writeProven: statements.statement(
        `UPDATE {ticket} SET {ticket.methods} = :methods, {ticket.failureCount} = {ticket.failureCount} - 1
         WHERE {ticket.digest} = :digest AND {ticket.methods} = :methodsRead AND {ticket.failureCount} > 0`,
      ),
    };
  }

  /** Issues a ticket, and removes tickets of the user beyond 20. Returns null if the credentials have changed. */
  async issue(
    { user, credentialsVersion, rememberMe, succeed }: Omit<Identification, 'proofsAt'>,
    given: GivenProofs,
    op: Operation,
  ): Promise<string | null> {
    const now = this.clock.now();
    const userId = String(user.id);
    const { network, realm } = op.client;
    const { token: ticket, digest, expiresAt } = this.tokens.issueToken('login_ticket', now);
    const networkDigest = sha256(`${network}\0${userId}`);
    const ofLogin = { userId, networkDigest, realm, credentialsVersion, remembered: rememberMe };
    const ofTicket = { digest, createdAt: now, expiresAt, failureCount: 0 };
    const values = { ...storedProofs(given, now), ...ofLogin, ...ofTicket };
    const store = function* (this: LoginTickets): Step<boolean> {
      // Without the lock, parallel logins would not see each other's tickets, and could exceed the limit.
      yield* this.lock.lock(userId);
      const rows = yield* rowsOf(this.sql.readLive.with({ userId, now }));
      // If the response to COMMIT is lost, the next run finds the ticket that the first run has stored.
      if (rows.some((row) => row['digest'] === digest)) return true;
      if (Number(rows[0]?.['version']) !== credentialsVersion) return false;
      const valid = rows.filter((row) => Number(row['failure_count']) < MAX_TICKET_FAILURES);
      const kept = keptBeside(networkDigest, valid);
      const digests = rows.filter((row) => !kept.includes(row)).map((row) => row['digest']);
      if (digests.length > 0) yield* affectedBy(this.sql.remove.with({ userId, digests }));
      yield* affectedBy(this.sql.insert.with(values));
      if (succeed) yield* succeed();
      yield* this.events.write([newEvent('first_factor_success', userId, op.client, now)]);
      return true;
    };
    const isStored = await this.database.transaction(null, () => store.call(this), { retryUnknownCommit: true });
    return isStored ? ticket : null;
  }

  async issueFor(user: { readonly id: UserId } | UserId, given: GivenProofs, op: Operation): Promise<string> {
    assertMethods(given.methods ?? []);
    const found = await this.users.findActive(user, op.client.realm);
    const ticket = await this.issue({ ...found, rememberMe: given.rememberMe === true }, given, op);
    // If no ticket was issued, the credentials have changed in the meantime, for example by `disableUser`.
    return ticket ?? this.issueFor(user, given, op);
  }

  /** @param data is stored over the data of the ticket */
  open(presented: string, data: GivenProofs['data'], op: Operation): Promise<OpenedSession> {
    const { sql } = this;
    const identify = async (): Promise<Identification> => {
      const { ticket, user } = await this.find(presented, op);
      const hasSecond = Object.keys(provenMethods(ticket.methods)).length > 1;
      if (!hasSecond && (await this.secondFactor.isRequired(user, op.client.info))) throw secondFactorRequired();
      const merged = data === undefined ? ticket.data : patchedData(ticket.data, data);
      const proofs = { methods: ticket.methods, data: merged };
      return {
        user,
        credentialsVersion: ticket.credentialsVersion,
        rememberMe: ticket.rememberMe,
        proofsAt: () => proofs,
        *check(now) {
          return (yield* firstOf(sql.readPresented.with({ ...ticket, now }))) !== null;
        },
        *consume(now) {
          yield* changeAll(sql.consumePresented.with({ ...ticket, now }), 1);
        },
      };
    };
    return this.opening.openFor(identify, op, invalidLoginTicket);
  }

  async attempt(
    target: ({ readonly ticket: string } | { readonly principal: AuthPrincipal }) & { readonly method: string },
    op: Operation,
    verify: (user: IdentifiedUser) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    const given: { ticket?: unknown; principal?: unknown } = { ...target };
    if (!('ticket' in given || given.principal)) throw new Error('Pass attempt() a login ticket or a principal.');
    const { method } = target;
    assertMethod(method);
    const check = async ({ id, username }: StoredUser): Promise<boolean> => {
      const result: unknown = await verify({ id, username });
      if (typeof result === 'boolean') return result;
      throw new Error(`The callback passed to attempt() returned ${kindOf(result)}. Return true or false.`);
    };
    if (!('ticket' in target)) return this.inSession.attempt(target.principal, method, op, check);
    const { countAttempt, takeBackAttempt } = this.sql;
    return this.queue.enter(op.client.network, async () => {
      const { ticket, user } = await this.find(target.ticket, op);
      const { digest } = ticket;
      const now = this.clock.now();
      const subject: Subject = {
        ...this.throttle.ofLogin(method, user.username, user, op.client),
        *begin() {
          if ((yield* affectedBy(countAttempt.with({ digest, now }))) === 0) throw invalidLoginTicket();
        },
        *takeBack() {
          yield* affectedBy(takeBackAttempt.with({ digest }));
        },
      };
      const outcome = await this.throttle.attempt(subject, op, async (charge) => {
        return (await check(user)) && ((await this.recordProof(digest, charge)) || 'ticket_ended');
      });
      if (outcome === 'ticket_ended') throw invalidLoginTicket();
      return outcome;
    });
  }

  /** Returns a valid ticket and its user. @throws AuthError `invalid_login_ticket` */
  private async find(presented: string, op: Operation) {
    if (typeof presented !== 'string' || !isToken('login_ticket', presented)) throw invalidLoginTicket();
    const digest = sha256(presented);
    const [row] = (await this.database.run(null, this.sql.find.with({ digest, now: this.clock.now() }))).rows;
    if (!row || !isInRealm(row, op.client.realm)) throw invalidLoginTicket();
    const userId = String(row['user_id']);
    const credentialsVersion = Number(row['credentials_version']);
    const user = await this.users.findById(this.users.parseId(userId), null);
    // The tickets of a user whom the application has disabled must not become valid again when the user is enabled.
    if (user && !user.active) await this.endSessions.endForInactiveAccount(userId, 'disabled', op);
    const version = user?.active ? await this.users.credentialsVersion(userId, null) : null;
    if (!user || !isInRealm(user, op.client.realm) || version !== credentialsVersion) throw invalidLoginTicket();
    const rememberMe = isTrue(row['remembered']);
    return { ticket: { digest, userId, credentialsVersion, rememberMe, ...proofsFromRow(row) }, user };
  }

  /** Adds a proven method to the ticket, and deletes its failures. Returns false if the ticket is no longer valid. */
  private recordProof(digest: string, charge: Charge): Promise<boolean> {
    const now = this.clock.now();
    let written: string | null = null;
    const store = function* (this: LoginTickets): Step<boolean> {
      const row = yield* firstOf(this.sql.lockProven.with({ digest, now }));
      // If the response to COMMIT is lost, the next run finds the methods that the first run has written.
      if (row && row['methods'] === written) return true;
      yield* this.throttle.clear(charge);
      if (!row) return false;
      const methodsRead = String(row['methods']);
      const methods = withProvenMethods(methodsRead, [charge.subject.method], now);
      yield* changeAll(this.sql.writeProven.with({ digest, methods, methodsRead }), 1);
      written = methods;
      return true;
    };
    return this.database.transaction(null, () => store.call(this), { retryUnknownCommit: true });
  }
}

/**
 * Returns the tickets that remain when one more is issued to a network. Removes the oldest ticket of the networks that
 * hold the most, because an attacker who knows the password must not remove the user's ticket from one other network.
 */
function keptBeside(network: string, newestFirst: readonly Row[]): readonly Row[] {
  if (newestFirst.length < MAX_TICKETS) return newestFirst;
  const networks = [network, ...newestFirst.map((row) => row['network_digest'])];
  const held = networks.map((one) => networks.filter((other) => other === one).length);
  return keptBeside(network, newestFirst.toSpliced(held.lastIndexOf(Math.max(...held)) - 1, 1));
}
