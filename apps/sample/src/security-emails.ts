import { Injectable } from '@nestjs/common';
import { OnAuthSignal, type AuthSignals, type SessionInfo } from 'nestjs-session-auth';
import { Mailer } from './mailer';

const deviceOf = ({ browserFamily, osFamily }: SessionInfo): string =>
  browserFamily === 'Other' ? 'an unknown device' : `${browserFamily} on ${osFamily}`;
// For a city or country, look the address up in a database of your own.
const placeOf = (ipAddress: string | null): string => ipAddress ?? 'an unknown address';
const HELP = 'If this was not you, change your password and sign out everywhere.';

/** Writes to the user what happened to the account, on which device, from where and when. */
@Injectable()
export class SecurityEmails {
  constructor(private readonly mailer: Mailer) {}

  @OnAuthSignal('user_logged_in')
  async signedIn({ userId, session, newDevice }: AuthSignals['user_logged_in']): Promise<void> {
    if (!newDevice) return;
    const text = `${deviceOf(session)}, ${placeOf(session.ipAddress)}, ${session.createdAt.toUTCString()}. ${HELP}`;
    await this.mailer.send(userId, 'New sign-in', text);
  }

  @OnAuthSignal('password_changed')
  async changed({ userId, session }: AuthSignals['password_changed']): Promise<void> {
    const by = session ? `${deviceOf(session)}, ${placeOf(session.lastIpAddress)}, ` : '';
    await this.mailer.send(userId, 'Your password was changed', `${by}${new Date().toUTCString()}. ${HELP}`);
  }

  @OnAuthSignal('password_reset')
  async reset({ userId }: AuthSignals['password_reset']): Promise<void> {
    await this.mailer.send(userId, 'Your password was reset', `${new Date().toUTCString()}. ${HELP}`);
  }

  @OnAuthSignal('token_reuse_detected')
  async reused({ userId, session, ipAddress }: AuthSignals['token_reuse_detected']): Promise<void> {
    const what = `Your session on ${deviceOf(session)} was used with an old token from ${placeOf(ipAddress)}`;
    const text = `${what}, ${new Date().toUTCString()}. For safety, you were signed out everywhere.`;
    await this.mailer.send(userId, 'You were signed out', text);
  }

  @OnAuthSignal('login_blocked')
  async blocked({ userId, scope, ipAddress, until }: AuthSignals['login_blocked']): Promise<void> {
    if (userId === null || scope !== 'account') return;
    const end = until ? `until ${until.toUTCString()}` : 'until you reset your password';
    const what = `Many wrong passwords were entered, the last one from ${placeOf(ipAddress)}`;
    const text = `${what}. Unknown networks are blocked ${end}.`;
    await this.mailer.send(userId, 'Sign-ins are blocked', text);
  }
}
