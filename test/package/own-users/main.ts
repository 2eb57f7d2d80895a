import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Controller, Delete, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AUTH_ENTITIES_WITHOUT_USERS, AuthModule, AuthService, CurrentUser } from 'nestjs-session-auth';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { Member, MemberStore } from './users.js';

const given = JSON.parse(process.env['APPLICATION_DATABASE']!) as TypeOrmModuleOptions;
const database = given.type === 'better-sqlite3' && hasNodeSqlite() ? { ...given, driver: NodeSqlite } : given;
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
