import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** The application's own users. The option `users` maps them for the library. */
@Entity('users')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Index({ unique: true })
  @Column({ type: 'varchar', length: 255 })
  username!: string;

  /**
   * With `select: false`, TypeORM does not load the hash with the user, so that no response can include the hash
   * by mistake.
   */
  @Column({ type: 'varchar', length: 255, name: 'password_hash', select: false })
  passwordHash!: string;

  @Column({ type: Boolean, default: true })
  active!: boolean;
}
