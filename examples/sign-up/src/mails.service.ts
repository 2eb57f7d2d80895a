import { BadRequestException, Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { AuthService, foldName, OnAuthSignal, type AuthSignals } from 'nestjs-session-auth';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { LessThan, LessThanOrEqual, MoreThan, Repository } from 'typeorm';
import { Mail, User } from './entities.js';

const { SMTP_URL, MAIL_FROM = 'example@localhost', PORT = '3000' } = process.env;
// The origin of links is configured, because a client can send any `Host` header.
const SITE = process.env['PUBLIC_URL'] ?? `http://localhost:${PORT}`;
const minutesFromNow = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

@Injectable()
export class Mails {
  private readonly transport = createTransport(SMTP_URL ?? { jsonTransport: true }, { from: MAIL_FROM });
  @InjectRepository(Mail) private readonly mails!: Repository<Mail>;
  @InjectRepository(User) private readonly users!: Repository<User>;
  @Inject() private readonly auth!: AuthService;

  /** Queues an email, with the same two statements for every address. Sends a link at most once in ten minutes. */
  async request(kind: Mail['kind'], email: string): Promise<void> {
    const id = kind === 'password-changed' ? randomUUID() : digestOf(`${kind} ${foldName(email)}`);
    const mail = { id, kind, email, requestedAt: new Date(), dueAt: new Date(), attempts: 0, tokenDigest: null };
    await this.mails.createQueryBuilder().insert().values(mail).orIgnore().updateEntity(false).execute();
    await this.mails.update({ id, requestedAt: LessThan(minutesFromNow(-10)) }, mail);
  }

  @Interval(1000)
  async sendDue(): Promise<void> {
    await this.mails.delete({ requestedAt: LessThan(minutesFromNow(-24 * 60)) });
    const where = { dueAt: LessThanOrEqual(new Date()) };
    // First attempts come first, so that emails that the SMTP server refuses do not delay the others.
    for (const mail of await this.mails.find({ where, order: { attempts: 'ASC', dueAt: 'ASC' }, take: 20 })) {
      const token = randomBytes(32).toString('base64url');
      const attempts = mail.attempts + 1;
      const retry = { attempts, dueAt: minutesFromNow(2 ** mail.attempts), tokenDigest: digestOf(token) };
      // If several instances find the same row, the one whose update changes it sends the email.
      const { affected } = await this.mails.update({ id: mail.id, dueAt: mail.dueAt! }, retry);
      if (affected === 1) await this.send(mail, token).catch((error: unknown) => Logger.error(error, 'Mails'));
    }
  }

  private async send({ id, kind, email }: Mail, token: string): Promise<void> {
    const user = await this.users.findOneBy({ folded: foldName(email) });
    // Uses the address that the account stores, because a different spelling may be a different mailbox.
    const to = { name: '', address: user?.email ?? email };
    const content = await this.compose(kind, user, token);
    const finish = () => this.mails.update({ id, tokenDigest: digestOf(token) }, { dueAt: null });
    const sending = this.transport.sendMail({ to, ...content, signal: AbortSignal.timeout(30_000) });
    const sent = await sending.catch(async (error: { command?: string; responseCode?: number }) => {
      // The SMTP server has refused the recipient permanently.
      if (error.command === 'RCPT TO' && error.responseCode! >= 500) await finish();
      throw error;
    });
    await finish();
    if (SMTP_URL === undefined) Logger.log(sent.message, 'Mails');
  }

  private async compose(kind: Mail['kind'], user: User | null, signUpToken: string): Promise<SendMailOptions> {
    if (kind === 'password-changed') return { subject: 'Your password was changed', text: `Not you? ${SITE}` };
    if (user?.active === false) return { subject: 'Your account is disabled', text: 'Reply to have it enabled.' };
    if (user && kind === 'sign-up') return { subject: 'You already have an account', text: `Sign in: ${SITE}` };
    if (!user && kind === 'password-reset') return { subject: 'You have no account', text: `Sign up: ${SITE}` };
    const token = user ? (await this.auth.createPasswordResetToken(user.id)).token : signUpToken;
    // Browsers do not send the fragment of a URL to the server, so no access log contains the token.
    return { subject: 'Choose a password', text: `Ignore this if you did not ask for it: ${SITE}/#${kind}=${token}` };
  }

  /** Redeems the token of a sign-up link, once and within a day. The token remains valid if `use` fails. */
  async redeem(token: string, use: (email: string) => Promise<unknown>): Promise<void> {
    const tokenDigest = digestOf(token);
    const requestedAt = MoreThan(minutesFromNow(-24 * 60));
    const mail = await this.mails.findOneBy({ kind: 'sign-up', tokenDigest, requestedAt });
    if (!mail) throw new BadRequestException({ non_field_errors: ['Invalid or expired token.'] });
    await use(mail.email);
    await this.mails.update({ tokenDigest }, { tokenDigest: null });
  }

  @OnAuthSignal('password_changed')
  @OnAuthSignal('password_reset')
  async notify({ userId }: AuthSignals['password_reset']): Promise<void> {
    const { email } = await this.users.findOneByOrFail({ id: String(userId) });
    await this.request('password-changed', email);
  }
}
