import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('authenticators')
export class Authenticator {
  @PrimaryColumn() userId!: string;
  /** In this example, the secret is stored in plain text. Encrypt it in production. */
  @Column() secret!: string;
  /** Whether a code has confirmed the secret. Until then, logins do not require a code. */
  @Column() isConfirmed!: boolean;
  /** The time step of the last accepted code. */
  @Column({ default: 0 }) lastTimeStep!: number;
}

/** An unused recovery code, or a trusted device. */
@Entity('factor_tokens')
export class FactorToken {
  @PrimaryColumn() digest!: string;
  @Index() @Column() userId!: string;
  @Column('varchar') kind!: 'recovery' | 'device';
  @Column() createdAt!: Date;
}
