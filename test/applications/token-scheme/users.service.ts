import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { hash } from 'bcrypt';
import { Repository } from 'typeorm';
import { BCRYPT_COST } from './config';
import { Follow, User } from './user.entity';

@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(Follow) private readonly follows: Repository<Follow>,
  ) {}

  async create({ username, email, password }: Pick<User, 'username' | 'email' | 'password'>) {
    const { id } = await this.users.save({ username, email, password: await hash(password, BCRYPT_COST) });
    return this.users.findOneByOrFail({ id });
  }

  /** The only result that contains the hash. */
  findByEmail(email: string) {
    return this.users.findOne({ where: { email }, select: { id: true, password: true } });
  }

  findById(id: number) {
    return this.users.findOneBy({ id });
  }

  findByName(username: string) {
    return this.users.findOneBy({ username });
  }

  async update(id: number, changes: Partial<Pick<User, 'email' | 'bio' | 'password'>>) {
    await this.users.save({ id, ...changes });
    return this.users.findOneByOrFail({ id });
  }

  async follow(follower: User, followed: User) {
    await this.follows.save({ followerId: follower.id, followedId: followed.id });
  }

  isFollowing(follower: User, followed: User) {
    return this.follows.existsBy({ followerId: follower.id, followedId: followed.id });
  }
}
