import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule as SessionAuthModule, withAuthTables } from 'nestjs-session-auth';
import { BCRYPT_COST, databaseUrl } from '../../config';
import { AuthResolver } from './auth.resolver';
import { UserEntity } from './user.entity';

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      useFactory: () =>
        withAuthTables(
          {
            type: 'postgres',
            url: databaseUrl(),
            schema: 'auth',
            entities: [UserEntity],
            migrationsRun: true,
            poolSize: 2,
          },
          { usersTable: false },
        ),
    }),
    EventEmitterModule.forRoot(),
    SessionAuthModule.forRoot({
      controllers: false,
      users: { entity: UserEntity, username: 'email', passwordHash: 'password' },
      bcryptCost: BCRYPT_COST,
    }),
  ],
  providers: [AuthResolver],
})
export class AuthModule {}
