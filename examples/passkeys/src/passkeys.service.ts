import { BadRequestException, Inject, Injectable } from '@nestjs/common';
import * as webauthn from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import { SecondFactor, type AuthRequest, type AuthResponse, type AuthUser } from 'nestjs-session-auth';
import { hash, randomBytes } from 'node:crypto';
import { Column, Entity, EntityManager, Index, LessThan, MoreThan, PrimaryColumn } from 'typeorm';

/** The origin of the pages. It is configured, because a client can send any `Host` header. */
export const ORIGIN = process.env['ORIGIN'] ?? `http://localhost:${process.env['PORT'] ?? 3000}`;
export const rpID = new URL(ORIGIN).hostname;
const EXPECTED = { expectedOrigin: ORIGIN, expectedRPID: rpID, requireUserVerification: true };
const [COOKIE, SECURE] = ORIGIN.startsWith('https:') ? ['__Host-passkey', '; Secure'] : ['passkey', ''];
const IN_BASE64URL = { to: isoBase64URL.fromBuffer, from: isoBase64URL.toBuffer };

@Entity('passkeys')
export class Passkey {
  /** The credential id. It is the primary key, so that a passkey belongs to one user only. */
  @PrimaryColumn() id!: string;
  @Index() @Column() userId!: string;
  @Column({ type: 'text', transformer: IN_BASE64URL }) publicKey!: Uint8Array<ArrayBuffer>;
  @Column() counter!: number;
  @Column() isSyncable!: boolean;
  /** The user, if the user had no other passkey. Unique, so that only one of several parallel registrations succeeds. */
  @Column({ type: String, nullable: true, unique: true }) firstOf!: string | null;
}

@Entity('passkey_challenges')
export class PasskeyChallenge {
  @PrimaryColumn() challenge!: string;
  @Index() @Column() expiresAt!: Date;
}

/** Registers and verifies passkeys. A user with a passkey cannot log in with the password alone. */
@Injectable()
export class Passkeys extends SecondFactor {
  @Inject() private readonly database!: EntityManager;

  isRequired({ id }: { readonly id: unknown }): Promise<boolean> {
    return this.database.existsBy(Passkey, { userId: String(id) });
  }

  async registrationOptions({ id, username }: AuthUser, reply: AuthResponse): Promise<object> {
    return webauthn.generateRegistrationOptions({
      rpID,
      rpName: 'Passkeys',
      userID: new TextEncoder().encode(id),
      userName: username,
      challenge: await this.issueChallenge(reply),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: await this.database.find(Passkey, { select: { id: true }, where: { userId: id } }),
    });
  }

  async register({ id: userId }: AuthUser, request: AuthRequest, isFirst: boolean): Promise<void> {
    const response = request.body as webauthn.RegistrationResponseJSON;
    const options = { ...EXPECTED, response, expectedChallenge: await this.consumeChallenge(request) };
    const result = await verifyRegistration(options).catch(refuse);
    const { credential, credentialDeviceType } = result.registrationInfo ?? refuse();
    const isSyncable = credentialDeviceType === 'multiDevice';
    const firstOf = isFirst ? userId : null;
    // The unique columns reject a passkey that is already registered, and a second first passkey of the user.
    await this.database.insert(Passkey, { ...credential, userId, isSyncable, firstOf }).catch(refuse);
  }

  /** Verifies the response of a passkey. Returns the user, and the authentication methods (RFC 8176). */
  async verify(request: AuthRequest): Promise<{ userId: string; methods: string[] }> {
    const expectedChallenge = await this.consumeChallenge(request);
    const response = request.body as webauthn.AuthenticationResponseJSON;
    if (typeof response?.id !== 'string') return refuse();
    const passkey = (await this.database.findOneBy(Passkey, { id: response.id })) ?? refuse();
    const options = { ...EXPECTED, response, expectedChallenge, credential: passkey };
    const result = await webauthn.verifyAuthenticationResponse(options).catch(refuse);
    const counter = result.verified ? result.authenticationInfo.newCounter : refuse();
    // If a key and its copy send the same counter above 0, the update accepts only one of them.
    const earlier = { id: passkey.id, counter: counter > 0 ? LessThan(counter) : 0 };
    const { affected } = await this.database.update(Passkey, earlier, { counter });
    const { userId, isSyncable } = affected === 1 ? passkey : refuse();
    return { userId, methods: [isSyncable ? 'swk' : 'hwk', 'user'] };
  }

  /** Issues a challenge that is the digest of a cookie, so that only this browser can use the challenge. */
  async issueChallenge(reply: AuthResponse): Promise<Uint8Array<ArrayBuffer>> {
    const secret = randomBytes(32).toString('base64url');
    const challenge = hash('sha256', secret, 'base64url');
    await this.database.delete(PasskeyChallenge, { expiresAt: LessThan(new Date()) });
    await this.database.insert(PasskeyChallenge, { challenge, expiresAt: new Date(Date.now() + 300_000) });
    reply.header('Set-Cookie', `${COOKIE}=${secret}; Path=/; Max-Age=300; HttpOnly; SameSite=Strict${SECURE}`);
    return isoBase64URL.toBuffer(challenge);
  }

  private async consumeChallenge({ headers }: AuthRequest): Promise<string> {
    const [, secret = ''] = new RegExp(`(?:^|; )${COOKIE}=([^;]+)`).exec(String(headers['cookie'])) ?? [];
    const valid = { challenge: hash('sha256', secret, 'base64url'), expiresAt: MoreThan(new Date()) };
    const { affected } = await this.database.delete(PasskeyChallenge, valid);
    return affected === 1 ? valid.challenge : refuse();
  }
}

/** Refuses attestations with certificates, which no route requests, and which could take minutes to verify. */
async function verifyRegistration(options: Parameters<typeof webauthn.verifyRegistrationResponse>[0]) {
  const format = decodeAttestationObject(isoBase64URL.toBuffer(options.response.response.attestationObject)).get('fmt');
  if (format !== 'none' && format !== 'packed') throw new Error(`The format of the attestation is ${format}.`);
  return webauthn.verifyRegistrationResponse(options);
}

export function refuse(cause?: unknown): never {
  throw new BadRequestException('This passkey is not accepted.', { cause });
}
