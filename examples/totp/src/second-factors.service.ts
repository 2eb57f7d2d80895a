import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { AuthUserLock, SecondFactor, type ClientInfo, type UserId } from 'nestjs-session-auth';
import { createHash, randomBytes } from 'node:crypto';
import { generateSecret, generateURI, verify } from 'otplib';
import { EntityManager, LessThan, MoreThan } from 'typeorm';
import { Authenticator, FactorToken } from './entities.js';

export const TRUST_COOKIE = { httpOnly: true, secure: true, sameSite: 'strict', maxAge: 30 * 24 * 3_600_000 } as const;
export type LoginClient = ClientInfo & { readonly deviceToken?: string };
const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

@Injectable()
export class SecondFactors extends SecondFactor {
  @Inject() private readonly database!: EntityManager;

  async isRequired({ id }: { readonly id: UserId }, { deviceToken = '' }: LoginClient): Promise<boolean> {
    const userId = String(id);
    const lock = await this.database.findOneBy(AuthUserLock, { userId });
    // After the reuse of a token, for example, a trusted device may be in the hands of a thief.
    const since = Math.max(Date.now() - TRUST_COOKIE.maxAge, lock?.loginsRevokedAt ?? 0);
    const createdAt = MoreThan(new Date(since));
    const trusted = { userId, kind: 'device', digest: digestOf(deviceToken), createdAt } as const;
    const isEnrolled = await this.database.existsBy(Authenticator, { userId, isConfirmed: true });
    return isEnrolled && !(await this.database.existsBy(FactorToken, trusted));
  }

  /** Stores a secret, which a code must confirm. Never replaces a confirmed secret. @returns the URI of the secret */
  async enroll(userId: string, label: string): Promise<string> {
    const pending = { userId, secret: generateSecret(), isConfirmed: false };
    await this.database.delete(Authenticator, { userId, isConfirmed: false });
    await this.database.createQueryBuilder().insert().into(Authenticator).values(pending).orIgnore().execute();
    if (!(await this.database.existsBy(Authenticator, pending))) throw new ConflictException('Already enabled.');
    return generateURI({ issuer: 'Example', label, secret: pending.secret });
  }

  /** Accepts a code once, because only one of several parallel requests can update or delete its row. */
  async accept(method: 'otp' | 'recovery', userId: string, code: string, isConfirmed: boolean): Promise<boolean> {
    const found = await this.database.findOneBy(Authenticator, { userId, isConfirmed });
    if (!found) return false;
    if (method === 'recovery') {
      const unused = { userId, kind: method, digest: digestOf(code) };
      return isConfirmed && (await this.database.delete(FactorToken, unused)).affected === 1;
    }
    // Accepts codes of the previous, the current and the next time step. The comparison takes constant time.
    const result = /^\d{6}$/.test(code) && (await verify({ secret: found.secret, token: code, epochTolerance: 30 }));
    if (!result || !('timeStep' in result)) return false;
    const unused = { ...found, lastTimeStep: LessThan(result.timeStep) };
    const used = { isConfirmed: true, lastTimeStep: result.timeStep };
    return (await this.database.update(Authenticator, unused, used)).affected === 1;
  }

  /** Creates the token of a trusted device, or replaces the recovery codes. Only the digests are stored. */
  async createTokens(userId: string, kind: FactorToken['kind'], count: number): Promise<string[]> {
    const tokens = Array.from({ length: count }, () => randomBytes(16).toString('hex'));
    const rows = tokens.map((token) => ({ digest: digestOf(token), userId, kind, createdAt: new Date() }));
    await this.database.transaction(async (manager) => {
      if (kind === 'recovery') await manager.delete(FactorToken, { userId, kind });
      await manager.insert(FactorToken, rows);
    });
    return tokens;
  }

  async disable(userId: string): Promise<void> {
    await this.database.delete(FactorToken, { userId });
    await this.database.delete(Authenticator, { userId });
  }
}
