import { connect } from 'node:net';
import { AuthUser } from 'nestjs-session-auth';
import { createDatabase, DATABASES, type DatabaseName, type TestDatabase } from '../support/databases';
import { Host, PASSWORD, type HostOptions, type PlatformName } from '../support/host';

/** Where stories take place: one host on one database. */
export interface Stage {
  readonly platform: PlatformName;
  host: Host;
  database: TestDatabase;
}

type StageOptions = Omit<HostOptions, 'database'>;

/** The same stories on every database. What one leaves behind is removed before the next. */
export function stories(title: string, options: StageOptions, tell: (at: Stage) => void): void {
  describe.each(DATABASES)(`${title} on %s`, (name) => tellOn(name, options, tell));
}

/** The same on Fastify too, where one database is enough: what differs is what stands before the library. */
export function storiesOnBothPlatforms(title: string, options: StageOptions, tell: (at: Stage) => void): void {
  stories(title, options, tell);
  if (!DATABASES.includes('sqlite')) return;
  describe(`${title} on Fastify`, () => tellOn('sqlite', { ...options, platform: 'fastify' }, tell));
}

function tellOn(name: DatabaseName, options: StageOptions, tell: (at: Stage) => void): void {
  const at = { platform: options.platform ?? 'express' } as Stage;

  beforeAll(async () => {
    at.database = await createDatabase(name);
    at.host = await Host.start({ database: at.database, ...options });
  });
  afterAll(async () => {
    await at.host.close();
    await at.database.drop();
  });
  beforeEach(() => at.host.reset());

  tell(at);
}

/** An answer, and the bytes that it came in but for the date. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: string;
}

/** Sends the lines of a request as they are (each character a byte), which clients of HTTP would not all do. */
export function sendRaw(host: Pick<Host, 'url'>, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const { hostname, port } = new URL(host.url);
  const [requestLine, ...headers] = lines;
  const request = [requestLine, `Host: ${hostname}`, 'Connection: close', ...headers, '', body].join('\r\n');
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(request, 'latin1')));
    socket.setTimeout(10_000, () => socket.destroy(new Error('No answer came.')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('end', () => resolve(parse(Buffer.concat(chunks).toString('latin1'))));
  });
}

function parse(text: string): RawAnswer {
  const bytes = text.replace(/\r\nDate: [^\r]*/i, '');
  const [head = '', ...rest] = bytes.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n'), bytes };
}

/** A POST of JSON text with its length, as raw lines. */
export function postJson(host: Host, path: string, json: string, ...headers: string[]): Promise<RawAnswer> {
  const bytes = Buffer.from(json).toString('latin1');
  const lines = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json', `Content-Length: ${bytes.length}`];
  return sendRaw(host, [...lines, ...headers], bytes);
}

/** The text in two chunks, as a chunked body has it. */
export function inChunks(text: string): string {
  const middle = Math.floor(text.length / 2);
  const parts = [text.slice(0, middle), text.slice(middle)].filter(Boolean);
  return [...parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`), '0\r\n\r\n'].join('');
}

/** What a host does when it disables a user, or enables one, in its own table. */
export async function setActive(host: Host, username: string, active: boolean): Promise<void> {
  await host.dataSource.getRepository(AuthUser).update({ username }, { active });
}

/** The user's password as the stories know it, whatever was done to it before. */
export async function restorePassword(host: Host, username = 'alice'): Promise<void> {
  const { id } = await host.dataSource.getRepository(AuthUser).findOneByOrFail({ username });
  await host.auth.resetPassword(id, PASSWORD);
  await host.reset();
}

/** Names of the events of a history, most recent first. */
export async function eventsOf(host: Host, accessToken: string): Promise<string[]> {
  const { body } = await host.get('/auth/history/?limit=200', accessToken).expect(200);
  return (body as { event: string }[]).map(({ event }) => event);
}

/** One event of a history, without what differs each time. */
export interface HistoryEntry {
  readonly id: number;
  readonly event: string;
  readonly ip_address: string | null;
  readonly user_agent: string;
  readonly extra: Record<string, unknown>;
  readonly timestamp: string;
}

export async function historyOf(host: Host, accessToken: string): Promise<HistoryEntry[]> {
  const { body } = await host.get('/auth/history/?limit=200', accessToken).expect(200);
  return body as HistoryEntry[];
}

/** The state and reason that the database holds of a session. */
export async function storedEnd(host: Host, sessionId: string): Promise<{ state: string; end_reason: string | null }> {
  const rows: { state: string; end_reason: string | null }[] = await host.dataSource.query(
    `SELECT state, end_reason FROM auth_sessions WHERE id = '${sessionId}'`,
  );
  return { state: rows[0]!.state, end_reason: rows[0]!.end_reason };
}

export const INVALID_CREDENTIALS = { non_field_errors: ['Invalid credentials.'] };
export const INVALID_REFRESH = { non_field_errors: ['Invalid or expired refresh token.'] };
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
