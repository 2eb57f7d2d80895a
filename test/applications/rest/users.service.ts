import { Injectable, OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { hash } from 'bcrypt';
import { Repository } from 'typeorm';
import { BCRYPT_COST } from './config';
import { RoleId, User } from './user.entity';

@Injectable()
export class UsersService implements OnApplicationBootstrap {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** Creates the administrator at the first start. */
  async onApplicationBootstrap() {
    const email = 'alice@example.com';
    if (!(await this.findByEmail(email))) await this.create(email, 'secret of alice', RoleId.Admin);
  }

  async create(email: string, password: string, roleId = RoleId.User) {
    const user = await this.users.save({ email, password: await hash(password, BCRYPT_COST), roleId });
    return this.findById(user.id);
  }

  /** The only result that contains the hash. */
  findByEmail(email: string) {
    return this.users.findOne({ where: { email }, select: { id: true, email: true, password: true } });
  }

  findById(id: number) {
    return this.users.findOneBy({ id });
  }

  list() {
    return this.users.find({ order: { id: 'ASC' } });
  }

  async remove(id: number) {
    await this.users.softDelete({ id });
  }
}
