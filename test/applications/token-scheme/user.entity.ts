import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('users')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  username!: string;

  @Column({ unique: true })
  email!: string;

  @Column({ select: false })
  password!: string;

  @Column({ default: '' })
  bio!: string;
}

@Entity('follows')
export class Follow {
  @PrimaryColumn({ name: 'follower_id' })
  followerId!: number;

  @PrimaryColumn({ name: 'followed_id' })
  followedId!: number;
}
