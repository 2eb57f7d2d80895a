import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { PasswordHasher } from 'nestjs-session-auth';
import { CheapPasswordHasher } from 'nestjs-session-auth/testing';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { DataSource } from 'typeorm';
import { TestSmtpServer, type ReceivedMail } from './smtp-server.js';

export const MINUTE = 60_000;
export const PASSWORD = 'correct horse battery staple';

// Only `advance` and `mock.timers.tick` move the clock. Only `receive` and `mock.timers.tick` send
// emails. The entities are loaded after this line, because the type of their date columns must be
// the mocked `Date`.
mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.UTC(2026, 0, 15, 10, 23) });
const smtp = new TestSmtpServer();
process.env['NODE_ENV'] = 'test';
process.env['DATABASE'] = ':memory:';
process.env['PUBLIC_URL'] = 'https://shop.example';
process.env['SMTP_URL'] = await smtp.listen();
// The modules read the environment when they are loaded.
const { AppModule } = await import('../src/app.module.js');
const { Mails } = await import('../src/mails.service.js');

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The application over HTTP, with an SMTP server and an empty database. */
export class Application {
  readonly smtp = smtp;

  private constructor(readonly nest: NestExpressApplication) {}

  static async start({ trustProxy = 'loopback' as string | false } = {}): Promise<Application> {
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(PasswordHasher)
      .useClass(CheapPasswordHasher)
      .compile();
    const nest = module.createNestApplication<NestExpressApplication>({ logger: false });
    nest.set('trust proxy', trustProxy);
    await nest.listen(0, '127.0.0.1');
    smtp.received.length = smtp.connections = 0;
    smtp.refusal = null;
    return new Application(nest);
  }

  static closeSmtp(): Promise<void> {
    return smtp.close();
  }

  close(): Promise<void> {
    return this.nest.close();
  }

  /** Advances the clock. */
  advance(milliseconds: number): void {
    mock.timers.setTime(new Date().getTime() + milliseconds);
  }

  post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const { port } = this.nest.getHttpServer().address() as AddressInfo;
    const options = { port, path, method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', ...options }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
      });
      sent.on('error', reject).end(JSON.stringify(body));
    });
  }

  /** Sends the emails that are due, and returns the emails that have arrived since the last call. */
  async receive(): Promise<ReceivedMail[]> {
    await this.nest.get(Mails).sendDue();
    return smtp.received.splice(0);
  }

  /** Requests a link, and returns the email that is sent. */
  async mailFor(kind: 'sign-up' | 'password-reset', email: string): Promise<ReceivedMail> {
    await this.post(`/${kind}`, { email });
    const [mail] = await this.receive();
    if (!mail) throw new Error(`No email was sent to ${email}.`);
    return mail;
  }

  async signUp(email: string): Promise<void> {
    const { token } = await this.mailFor('sign-up', email);
    const { status } = await this.post('/sign-up/complete', { token, password: PASSWORD });
    if (status !== 201) throw new Error(`The sign-up of ${email} failed with status ${status}.`);
  }

  logIn(username: string, password = PASSWORD): Promise<Answer> {
    return this.post('/auth/login/', { username, password });
  }

  /** Returns the rows of all tables as text. */
  async copyOfDatabase(): Promise<string> {
    const dataSource = this.nest.get(DataSource);
    const rows = await Promise.all(
      dataSource.entityMetadatas.map(({ tablePath }) => dataSource.query(`SELECT * FROM "${tablePath}"`)),
    );
    return JSON.stringify(rows);
  }

  /** Returns the SQL statements that run during the work. */
  async statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const dataSource = this.nest.get(DataSource);
    const { logger } = dataSource;
    const statements: string[] = [];
    dataSource.logger = { ...logger, logQuery: (query: string) => statements.push(query) } as typeof logger;
    await work().finally(() => (dataSource.logger = logger));
    return statements;
  }
}
