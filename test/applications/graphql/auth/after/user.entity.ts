import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The columns of the users table that the library reads. */
@Entity({ name: 'users', schema: 'public', synchronize: false })
export class UserEntity {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ type: 'text', unique: true })
  email!: string;

  @Column({ type: 'text', select: false })
  password!: string;
}
