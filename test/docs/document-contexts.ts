/** Code that the examples of a document require but the document does not show. */
export interface DocumentContext {
  readonly declared?: string;
  /** Modules by their paths relative to the examples, without `.ts`. */
  readonly modules?: Readonly<Record<string, string>>;
}

const APP = "import type { INestApplication } from '@nestjs/common';\ndeclare const app: INestApplication;";

const PAGE_MODULES = {
  client: `import { AuthClient } from 'nestjs-session-auth-client';
    export const client: AuthClient = new AuthClient();`,
  'api-types': `type Answer<Body> = { readonly responses: { readonly 200: { readonly content: { 'application/json': Body } } } };
    export interface paths { '/orders': { readonly get: Answer<readonly { readonly item: string }[]> } }`,
  api: `import createClient from 'openapi-fetch';
    import type { paths } from './api-types.js';
    export const api = createClient<paths>();`,
};

export const CONTEXTS: Readonly<Record<string, DocumentContext>> = {
  'docs/administrators.md': {
    declared: `${APP}
      import type { AuthRequest, SessionAdministration as Administration } from 'nestjs-session-auth';
      declare const administration: Administration;
      declare const request: AuthRequest;
      declare const userId: string;
      declare const sessionId: string;`,
  },
  'docs/browsers.md': { declared: APP },
  'docs/client.md': {
    declared: "import type { AuthClient as Client } from 'nestjs-session-auth-client';\ndeclare const client: Client;",
  },
  'docs/client-libraries.md': { modules: PAGE_MODULES },
  'docs/client-frameworks.md': {
    modules: {
      client: PAGE_MODULES.client,
      'node_modules/@tanstack/react-query/index': `export declare class QueryClient {
        constructor(options: { defaultOptions: { queries: { retry: (failureCount: number, error: Error) => boolean } } });
        clear(): void;
        resetQueries(): Promise<void>;
      }`,
      pages: 'export declare const Account: () => null, SignIn: () => null;',
      'node_modules/react-router/index': `
        export declare function createBrowserRouter(routes: object[]): { navigate(to: string): Promise<void> };
        export declare function redirect(to: string): Response;`,
      'node_modules/vue-router/index': `export declare function createWebHistory(): object;
        export declare function createRouter(options: object): { push(to: string): Promise<unknown>,
          beforeEach(guard: (to: { meta: { requiresSession?: unknown } }) => Promise<boolean | string>): void };`,
      'node_modules/pinia/index': 'export declare function defineStore<T>(id: string, setup: () => T): () => T;',
      'node_modules/msw/index': `export declare const http: {
        all(path: string, resolve: (info: { request: Request }) => Promise<Response>): object };`,
      'node_modules/msw/node/index': 'export declare function setupServer(...handlers: object[]): { listen(): void };',
    },
  },
  'docs/client-ssr.md': {
    modules: {
      'node_modules/next/server/index': `export type NextRequest = Request;
        export declare class NextResponse extends Response {
          static next(init: { request: { headers: Headers } }): Response }`,
      'node_modules/next/headers/index': 'export declare function headers(): Promise<Headers>;',
      'node_modules/next/navigation/index': 'export declare function redirect(path: string): never;',
      'node_modules/h3/index': `export interface H3Event { context: Record<string, unknown> }
        export declare function createError(error: { statusCode: number; statusMessage: string }): Error;
        export declare function defineEventHandler<T>(handler: (event: H3Event) => T): (event: H3Event) => T;
        export declare function getRequestHeader(event: H3Event, name: string): string | undefined;
        export declare function getRequestIP(event: H3Event): string | undefined;
        export declare const appendResponseHeader: (event: H3Event, name: string, value: string) => void;
        export declare const setResponseHeader: typeof appendResponseHeader;`,
      'node_modules/@sveltejs/kit/index': `export interface RequestEvent {
          readonly request: Request; readonly locals: { session?: object }; getClientAddress(): string }
        export type Handle = (input: { event: RequestEvent; resolve: (event: RequestEvent) => Promise<Response> }) => Promise<Response>;`,
    },
  },
  'docs/creating-users.md': {
    declared: `import type { AuthRequest as Request, AuthService as Auth } from 'nestjs-session-auth';
      declare const auth: Auth;
      declare const request: Request;
      declare const email: string;
      declare const fullName: string;
      declare const password: string;
      declare const users: { insert(row: object): Promise<unknown> };
      declare class SignUp { readonly email: string; readonly password: string }`,
  },
  'docs/microservices.md': {
    modules: {
      reports: `export declare class Reports {
        belongsTo(reportId: number, userId: string): Promise<boolean>;
        build(reportId: number): Promise<void>;
      }`,
    },
  },
  'docs/moving-from-express-session.md': {
    modules: {
      'session-store': "import { MemoryStore } from 'express-session';\nexport const store = new MemoryStore();",
    },
  },
  'docs/moving-from-jwt.md': {
    modules: {
      'old-tokens': `export declare class OldTokens {
        take(token: string): Promise<{ userId: number; issuedAt: Date } | undefined>;
      }`,
    },
  },
  'docs/notifications.md': {
    modules: {
      mailer: `import type { UserId } from 'nestjs-session-auth';
        export declare class Mailer { send(userId: UserId, subject: string, text: string): Promise<void> }`,
    },
  },
  'docs/openapi.md': { declared: APP },
  'docs/operations.md': {
    declared: `import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
      declare const exporter: PushMetricExporter;`,
  },
  'docs/other-orms.md': {
    modules: {
      kysely: `import type { Generated, Kysely } from 'kysely';
        interface Users { id: Generated<number>; email: string; password: string | null; disabled_at: Date | null }
        interface Profiles { user_id: number; plan: string }
        export declare const db: Kysely<{ users: Users; profiles: Profiles }>;`,
      drizzle: `import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
        import { pgTable, serial, text, timestamp } from 'drizzle-orm/pg-core';
        const disabledAt = timestamp('disabled_at', { withTimezone: true });
        export const users = pgTable('users', { id: serial().primaryKey(), email: text().notNull(), password: text(), disabledAt });
        export declare const db: NodePgDatabase;`,
      // The part of a generated Prisma Client that the page uses.
      prisma: `export interface User { id: number; email: string; password: string | null; disabledAt: Date | null }
        type Where = { id: number; email?: string } | { id?: number; email: string };
        type Change = { where: { id?: number; password?: string | null }; data: { password?: string | null } };
        export declare const prisma: { user: { findUnique(by: { where: Where }): Promise<User | null>;
          updateMany(change: Change): Promise<{ count: number }> } };`,
    },
  },
  'docs/passwords.md': {
    declared: `import type { AuthPrincipal, AuthService as Auth, ClientInfo } from 'nestjs-session-auth';
      import type { DataSource } from 'typeorm';
      declare const auth: Auth;
      declare const client: ClientInfo;
      declare const dataSource: DataSource;
      declare const password: string;
      declare const principal: AuthPrincipal;
      declare class User { readonly id: number; password: string }
      declare const user: { readonly id: number; readonly email: string };
      declare const mailer: { send(address: string, text: string): Promise<void> };
      declare function isBreached(password: string): Promise<boolean>;`,
    modules: {
      'django-user.entity': 'export class DjangoUser { username!: string; password!: string; isActive!: boolean; }',
    },
  },
  'docs/event-feed.md': {
    modules: {
      archive: `import type { AuthEventOfUser } from 'nestjs-session-auth';
        export declare class Archive { send(events: readonly AuthEventOfUser[]): Promise<void> }`,
      cursor: 'export declare class Cursor { read(): Promise<number>; write(next: number): Promise<void> }',
    },
  },
  'docs/roles-in-a-relation.md': {
    modules: { 'member.entity': 'export class Member { id!: number; roles!: { name: string }[]; }' },
  },
  'docs/server-rendered-pages.md': {
    modules: {
      markup: `import type { AuthResponse } from 'nestjs-session-auth';
        export interface Markup { readonly text: string }
        export declare function markup(parts: TemplateStringsArray, ...values: unknown[]): Markup;
        export declare function sendPage(response: AuthResponse, title: string, body: Markup): void;`,
    },
  },
  'docs/realms.md': {
    modules: {
      'people.entity': `export class Person { id!: number; email!: string; password!: string | null; disabledAt!: Date | null; }
        export class Customer extends Person {}
        export class StaffMember extends Person {}`,
    },
  },
  'docs/second-factors.md': {
    declared: `import type { AuthService as Auth, ClientInfo } from 'nestjs-session-auth';
      declare const auth: Auth;
      declare const client: ClientInfo;
      declare const user: { readonly id: number };
      declare const codes: { use(userId: string, code: string): Promise<boolean> };`,
    modules: {
      enrollments: 'export declare class Enrollments { exists(userId: string): Promise<boolean>; }',
      codes: 'export declare class Codes { use(userId: string, code: string): Promise<boolean>; }',
    },
  },
  'docs/session-data.md': {
    modules: { 'membership.entity': 'export class Membership { userId!: string; organizationId!: number; }' },
  },
  'docs/testing.md': {
    modules: {
      '../src/app.module': 'export class AppModule {}',
      '../src/me.controller': 'export class MeController {}',
    },
  },
  'docs/transactions.md': {
    declared: `${APP}
      declare const password: string;`,
    modules: { 'profile.entity': 'export class Profile { userId!: string; plan!: string; }' },
  },
  'docs/transports.md': { modules: { profile: 'export class Profile { username!: string; signedInAt!: Date; }' } },
  'docs/user-store.md': {
    modules: {
      directory: `export declare class DirectoryModule {}
        export interface Person { number: number; email: string; name: string; hash: string | null; locked: boolean; }
        export declare class Directory { findOne(by: { email: string } | { number: number }): Promise<Person | null>; }`,
    },
  },
  'docs/your-own-users.md': {
    declared: "import type { AuthService as Auth } from 'nestjs-session-auth';\ndeclare const auth: Auth;",
  },
};
