import { isoCBOR } from '@simplewebauthn/server/helpers';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** The ways in which an authenticator or a page deviates from correct behavior. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly isVerified?: boolean;
  readonly isSyncable?: boolean;
  readonly counter?: number;
  /** The format of the attestation. */
  readonly format?: string;
}

const FLAGS = { present: 0x01, verified: 0x04, backupEligible: 0x08, attested: 0x40 };

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** A software authenticator, and the browser that calls it (WebAuthn, sections 5 and 6). */
export class Authenticator {
  counter = 0;
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(
    private readonly origin: string,
    readonly credentialId = randomBytes(32),
  ) {}

  get id(): string {
    return base64url(this.credentialId);
  }

  /** Returns the result of `navigator.credentials.create()` as JSON. */
  create(challenge: string, deviation: Deviation = {}): object {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const coordinate = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(x)],
      [-3, coordinate(y)],
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const publicKey = isoCBOR.encode(key);
    const credential = [Buffer.alloc(16), length, this.credentialId, publicKey];
    const authData = Buffer.concat([this.data(FLAGS.attested, deviation), ...credential]);
    const attestation = new Map<string, unknown>([
      ['fmt', deviation.format ?? 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ]);
    const attestationObject = base64url(isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0]));
    const clientDataJSON = base64url(this.clientData('webauthn.create', challenge, deviation));
    return this.credential({ attestationObject, clientDataJSON });
  }

  /** Returns the result of `navigator.credentials.get()` as JSON. */
  get(challenge: string, deviation: Deviation = {}): object {
    this.counter = deviation.counter ?? this.counter + 1;
    const authenticatorData = this.data(0, deviation);
    const clientData = this.clientData('webauthn.get', challenge, deviation);
    const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
    return this.credential({
      authenticatorData: base64url(authenticatorData),
      clientDataJSON: base64url(clientData),
      signature: base64url(sign('sha256', signed, this.keys.privateKey)),
    });
  }

  private credential(response: object): object {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }

  private clientData(type: string, challenge: string, { origin = this.origin }: Deviation): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  private data(flags: number, deviation: Deviation): Buffer {
    const { rpId = new URL(this.origin).hostname, isVerified = true, isSyncable = false } = deviation;
    const all = flags | FLAGS.present | (isVerified ? FLAGS.verified : 0) | (isSyncable ? FLAGS.backupEligible : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(rpId), Buffer.from([all]), counter]);
  }
}
