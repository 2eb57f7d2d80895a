import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** The users of this host: a table of its own, which the library is told of by the option `users`. */
@Entity('users')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Index({ unique: true })
  @Column({ type: 'varchar', length: 255 })
  username!: string;

  /** Not loaded with the user, so that no answer can hold it by mistake. */
  @Column({ type: 'varchar', length: 255, name: 'password_hash', select: false })
  passwordHash!: string;

  @Column({ type: Boolean, default: true })
  active!: boolean;
}
