import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Controller, Delete, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES_WITHOUT_USERS,
  AuthModule,
  AuthService,
  CurrentUser,
  UserStore,
  type NewUser,
  type StoredUser,
} from 'nestjs-session-auth';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

const given = JSON.parse(process.env['APPLICATION_DATABASE']!) as TypeOrmModuleOptions;
const database = given.type === 'better-sqlite3' && hasNodeSqlite() ? { ...given, driver: NodeSqlite } : given;

/** The users table of the application. The library maps it, or `MemberStore` reads and writes it. */
@Entity('members')
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', unique: true })
  email!: string;

  @Column({ type: 'varchar', nullable: true, select: false })
  password!: string | null;

  @Column({ type: Date, nullable: true })
  disabledAt!: Date | null;
}

@Injectable()
class MemberStore extends UserStore {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  findByUsername(email: string): Promise<StoredUser | null> {
    return this.find('member.email = :value', email);
  }

  findById(id: number): Promise<StoredUser | null> {
    return this.find('member.id = :value', id);
  }

  override load(id: number): Promise<Member | null> {
    return this.members.findOneBy({ id });
  }

  override parseId(text: string): number {
    return Number(text);
  }

  override async setActive(id: number, active: boolean): Promise<boolean> {
    return ((await this.members.update(id, { disabledAt: active ? null : new Date() })).affected ?? 0) > 0;
  }

  override async create({ username, passwordHash }: NewUser): Promise<StoredUser | null> {
    await this.members.insert({ email: username, password: passwordHash });
    return this.findByUsername(username);
  }

  private async find(where: string, value: string | number): Promise<StoredUser | null> {
    const query = this.members.createQueryBuilder('member').addSelect('member.password');
    const member = await query.where(where, { value }).getOne();
    if (!member) return null;
    const { id, email, password, disabledAt } = member;
    return { id, username: email, passwordHash: password, active: disabledAt === null };
  }

  private get members() {
    return this.dataSource.getRepository(Member);
  }
}

const mapping = { entity: Member, username: 'email', passwordHash: 'password', disabledAt: 'disabledAt' } as const;

@Controller('me')
class MeController {
  constructor(private readonly auth: AuthService) {}

  @Get()
  me(@CurrentUser() { email }: Member): object {
    return { email };
  }

  @Delete()
  async disable(@CurrentUser() { id }: Member): Promise<void> {
    await this.auth.disableUser(id);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...database, entities: [Member, ...AUTH_ENTITIES_WITHOUT_USERS], synchronize: true }),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({
      bcryptCost: 6,
      globalGuard: true,
      users: process.env['APPLICATION_USERS'] === 'mapped' ? mapping : MemberStore,
    }),
  ],
  controllers: [MeController],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  await app.get(AuthService).createUser({ username: 'alice', password: 'correct horse battery staple' });
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  console.log(`listening ${port}`);
}
void main();
