import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';

export enum RoleId {
  Admin = 1,
  User = 2,
}

@Entity('roles')
export class Role {
  @PrimaryColumn()
  id!: RoleId;

  @Column()
  name!: string;
}

@Entity('users')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  email!: string;

  @Column({ select: false })
  password!: string;

  @Column({ name: 'role_id' })
  roleId!: RoleId;

  @ManyToOne(() => Role, { eager: true })
  @JoinColumn({ name: 'role_id' })
  role!: Role;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}
