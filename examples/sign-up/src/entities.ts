import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** An account. A user creates an account with the link in an email, so every address is confirmed. */
@Entity('users')
export class User {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column({ type: 'varchar' }) email!: string;
  @Column({ type: 'varchar', unique: true, select: false }) folded!: string;
  @Column({ type: 'varchar', select: false }) hash!: string;
  @Column({ type: Date }) emailConfirmedAt!: Date;
  @Column({ type: Boolean, default: true }) active!: boolean;
}

/** An email that was requested within the last day. */
@Entity('mails')
export class Mail {
  @PrimaryColumn({ type: 'varchar' }) id!: string;
  @Column({ type: 'varchar' }) kind!: 'sign-up' | 'password-reset' | 'password-changed';
  @Column({ type: 'varchar' }) email!: string;
  @Column({ type: Date }) requestedAt!: Date;
  /** When to send the email, or null after it was sent. */
  @Column({ type: Date, nullable: true }) dueAt!: Date | null;
  /** How many attempts to send the email have begun. */
  @Column({ type: Number, default: 0 }) attempts!: number;
  @Column({ type: 'varchar', nullable: true, unique: true }) tokenDigest!: string | null;
}
