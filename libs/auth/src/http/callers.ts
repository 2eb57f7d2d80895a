import type { ExecutionContext } from '@nestjs/common';
import { isInRealm } from '../adapters/realm';
import type { AuthService } from '../auth.service';
import { AuthError } from '../base/errors';
import type { ClientInspector } from '../history/event-log';
import type { SessionInfo } from '../history/signals';
import { type AuthPrincipal, requestUserOf } from '../sessions/authenticate';
import { AuthenticatedExternal, type ExternalPrincipal } from '../sessions/external-principal';
import type { AuthRequest } from './request';
import { isOptionalRoute } from './route-rules';
import { type GraphQLInfo, requestOf } from './transports';

/** The principal of a call. An `ExternalPrincipal` occurs only with `@AllowApiKey()` or the option `formerTokens`. */
export type Principal = AuthPrincipal | ExternalPrincipal;

/** The authenticated caller. Loads the user and the session at most once each, unless loading fails. */
export class Caller {
  private user: Promise<unknown> | undefined;
  private session: Promise<SessionInfo> | undefined;
  /** Created for subscriptions only. */
  private events: WeakMap<object, Caller> | undefined;

  constructor(
    readonly principal: Principal,
    private readonly auth: Pick<AuthService, 'loadUser' | 'currentSession'>,
  ) {}

  loadUser(): Promise<unknown> {
    const forget = (): void => void (this.user = undefined);
    return (this.user ??= keptUnlessFailed(this.auth.loadUser(this.principal), forget));
  }

  loadSession(): Promise<SessionInfo> {
    const forget = (): void => void (this.session = undefined);
    return (this.session ??= keptUnlessFailed(this.auth.currentSession(this.principal as AuthPrincipal), forget));
  }

  /** Returns the caller of an event of a subscription, for which the user may have changed since the last event. */
  ofEvent(event: object): Caller {
    this.events ??= new WeakMap();
    const caller = this.events.get(event) ?? new Caller(this.principal, this.auth);
    this.events.set(event, caller);
    return caller;
  }
}

function keptUnlessFailed<T>(loading: Promise<T>, forget: () => void): Promise<T> {
  loading.catch(forget);
  return loading;
}

/** The caller, or what a replacement of `BearerAuthGuard` has set on the request. */
export type CurrentCaller = Pick<Caller, 'principal' | 'loadUser' | 'loadSession'>;

/** The key of the caller of an HTTP request. A property is faster than an entry in a `WeakMap`. */
const CALLER = Symbol('nestjs-session-auth:caller');

interface AuthenticatedRequest extends AuthRequest {
  /** `context`: the call that a guard has verified. Undefined if the request was authenticated for all of its handlers. */
  [CALLER]?: { readonly request: object; readonly caller: Caller; readonly context: ExecutionContext | undefined };
}

/** Stores the caller of an HTTP request for the handler and for further guards. */
export function storeHttpCaller(request: AuthenticatedRequest, caller: Caller, context?: ExecutionContext): void {
  request[CALLER] = { request, caller, context };
  // Applications without `@AllowApiKey()` and the option `formerTokens` have no `ExternalPrincipal`.
  request.auth = caller.principal as AuthPrincipal;
}

/** Returns the authenticated caller, or undefined for a copy of the request or if other code has set `request.auth`. */
export function verifiedCaller(request: AuthenticatedRequest): Caller | undefined {
  const stored = request[CALLER];
  return stored?.request === request && stored.caller.principal === request.auth ? stored.caller : undefined;
}

/** By the two keys of `keysOf`: the caller, or null if the call is not authenticated, and the realm of the call. */
type StoredMessage = Readonly<{ caller: Caller | null; realm: string | null }>;
const CALLERS = new WeakMap<object, WeakMap<object, StoredMessage>>();

/** The verified callers by context. All guards of a call share its context, and no other call has this context. */
const VERIFIED = new WeakMap<ExecutionContext, Caller>();

/** Returns the principal that an earlier guard has verified for the same call. Sets `request.user` over HTTP. */
export function verifiedPrincipal(context: ExecutionContext, clients: ClientInspector): Principal | undefined {
  if (context.getType() !== 'http') return VERIFIED.get(context)?.principal;
  const request: AuthenticatedRequest = requestOf(context)!;
  // With Express, a handler can pass its request on to another handler, which requires another realm or scope.
  if ((request[CALLER]?.context ?? context) !== context) return undefined;
  const principal = verifiedCaller(request)?.principal;
  // `AuthCookies.refresh` stores the principal for all handlers.
  if (!principal || !isInRealm(principal, clients.realmOf(context))) return undefined;
  storeRequestUser(request, principal);
  return principal;
}

/** Stores the caller of a call for the handler and for further guards. Null records an unauthenticated call. */
export function storeCaller(
  context: ExecutionContext,
  caller: Caller | null,
  isFromSource: boolean,
  clients?: ClientInspector,
): void {
  const request = requestOf(context);
  const isHttp = context.getType() === 'http';
  if (!isHttp) storeMessage(context, caller, isFromSource, clients?.realmOf(context) ?? null);
  else if (caller) storeHttpCaller(request!, caller, context);
  else request!.auth = null;
  // The operations of one request may have different tokens in a token source. A connection outlives its operations. It
  // begins with a GET. A POST can have the header `Upgrade` too.
  const opensConnection = request?.headers['upgrade'] !== undefined && request.method !== 'POST';
  const isShared = !isHttp && (isFromSource || opensConnection);
  if (caller && request && !isShared) storeRequestUser(request, caller.principal);
}

function storeMessage(context: ExecutionContext, caller: Caller | null, isFromSource: boolean, realm: string | null) {
  const [call, slot] = keysOf(context);
  if (caller && isFromSource && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('If a tokenSource finds the token of a message, the message must be an object. Send an object.');
  }
  const callers = CALLERS.get(call) ?? new WeakMap();
  CALLERS.set(call, callers);
  const stored = callers.get(slot);
  assertSameRealm(stored, realm);
  assertSameCaller(context, stored, caller);
  // Another query of the same execution may have stored a caller. A subscription has only one field.
  const earlier = isGraphql(context) && !subscriptionOf(context) ? stored?.caller : null;
  callers.set(slot, { caller: caller ?? earlier ?? null, realm });
  if (caller) VERIFIED.set(context, caller);
}

/** Calls that share a caller must have one realm. Otherwise, one call would receive the caller of another. */
function assertSameRealm(stored: StoredMessage | undefined, realm: string | null): void {
  if (!stored || stored.realm === realm) return;
  throw new Error('The fields of a GraphQL operation must have one realm. So must messages that are not objects.');
}

/** A token source could otherwise find a token for one field, with which another field would run. */
function assertSameCaller(context: ExecutionContext, stored: StoredMessage | undefined, caller: Caller | null): void {
  if (!isGraphql(context) || !stored?.caller || !caller) return;
  if (identityOf(stored.caller.principal) === identityOf(caller.principal)) return;
  throw new AuthError('credentials_ambiguous', 'The fields of a GraphQL operation must have one token.');
}

/** Returns the caller that another resolver of the same GraphQL execution has stored, so that its user is loaded once. */
export function storedCaller(context: ExecutionContext, principal: Principal): Caller | undefined {
  const caller = isGraphql(context) ? messageCaller(context) : undefined;
  return caller && identityOf(caller.principal) === identityOf(principal) ? caller : undefined;
}

/** Returns the same text for principals of one session or key, or of former tokens that a user got at the same time. */
export function identityOf(principal: Principal): string {
  if ('sessionId' in principal) return `${principal.sessionId} ${principal.authenticatedAt.getTime()}`;
  if (principal.apiKey) return `key ${principal.apiKey.id}`;
  return `former ${principal.userId} ${principal.formerToken?.issuedAt.getTime()}`;
}

function messageCaller(context: ExecutionContext): Caller | null | undefined {
  const [call, slot] = keysOf(context);
  const caller = CALLERS.get(call)?.get(slot)?.caller;
  return isGraphql(context) && subscriptionOf(context) ? caller?.ofEvent(variableValuesOf(context)) : caller;
}

export function forgetCaller(context: ExecutionContext): void {
  if (!isGraphql(context)) return;
  const [call, slot] = keysOf(context);
  CALLERS.get(call)?.delete(slot);
}

/**
 * Returns the caller, or null if the route or GraphQL query is optional. Over HTTP, the principal is `request.auth`,
 * which the application's guard may have set.
 * @throws Error that names the decorator, if there is no caller
 */
export function callerOf(context: ExecutionContext, decorator: string): CurrentCaller | null {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    if (!request.auth) return anonymousCaller(context, decorator);
    return verifiedCaller(request) ?? callerOfOtherGuard(request, request.auth, decorator);
  }
  const caller = messageCaller(context);
  // The fields of an optional GraphQL query do not have `@OptionalAuth()` themselves.
  return caller === undefined ? anonymousCaller(context, decorator) : caller;
}

function anonymousCaller(context: ExecutionContext, decorator: string): null {
  if (isOptionalRoute(context)) return null;
  const replaced = context.getType() === 'http' ? ', or a replacement of the guard did not set `request.auth`' : '';
  throw new Error(
    `${decorator} found no authenticated user in ${context.getClass().name}.${context.getHandler().name}: no guard ` +
      `authenticated the call${replaced}. Add @UseGuards(BearerAuthGuard) or @OptionalAuth(). See docs/guards.md.`,
  );
}

function callerOfOtherGuard(request: AuthRequest, principal: AuthPrincipal, decorator: string): CurrentCaller {
  const missing = (name: string) => () => {
    throw new Error(`${decorator} requires \`request.${name}\`. Set it in your guard, with \`request.auth\`.`);
  };
  const { loadUser = missing('loadUser'), loadSession = missing('loadSession') } = request;
  return { principal, loadUser, loadSession };
}

/**
 * Returns the keys under which the caller of a call is stored. A GraphQL execution has one caller, although its context
 * may belong to a connection with many executions. Over other transports, each handler has its own caller, of the
 * message to a gateway (of the socket if the message is no object) or of the context of a microservice.
 */
function keysOf(context: ExecutionContext): readonly [call: object, slot: object] {
  const args = context.getArgs<unknown[]>();
  if (isGraphql(context)) return [firstObject([args[2]]), subscriptionOf(context) ?? variableValuesOf(context)];
  const [first, second, ...others] = args;
  const inOrder = ['ws', 'rpc'].includes(context.getType()) ? [second, first] : [first, second, ...others];
  return [firstObject(inOrder), context.getHandler()];
}

function isGraphql(context: ExecutionContext): boolean {
  return context.getType<string>() === 'graphql';
}

/** Returns an object that is new in each execution, also of an event of a subscription. */
function variableValuesOf(context: ExecutionContext): object {
  return context.getArgByIndex<Partial<GraphQLInfo> | undefined>(3)?.variableValues ?? CALLERS;
}

/** Returns the subscription that a call executes. Each of its events is another execution. */
function subscriptionOf(context: ExecutionContext): object | null {
  const { operation } = context.getArgByIndex<GraphQLInfo | undefined>(3) ?? {};
  return operation?.operation === 'subscription' ? operation : null;
}

function firstObject(values: readonly unknown[]): object {
  const found = values.find((value) => typeof value === 'object' && value !== null);
  if (found) return found;
  throw new Error('The caller cannot be stored: no argument of the handler is an object. Send one as the message.');
}

/** Sets `request.user` for the application's guards, unless other code has set it. */
function storeRequestUser(request: AuthRequest & { readonly user?: unknown }, principal: Principal): void {
  const user =
    principal instanceof AuthenticatedExternal
      ? AuthenticatedExternal.requestUserOf(principal)
      : requestUserOf(principal as AuthPrincipal);
  // Has no effect if the application defines an accessor without a setter.
  if (user !== null && (request.user ?? null) === null) Reflect.set(request, 'user', user);
}
