import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { AuthModule as SessionAuthModule } from 'nestjs-session-auth';
import { BCRYPT_COST } from '../../config';
import { User } from '../../user.entity';
import { TokenScheme } from './token-scheme';
import { UsersController } from './users.controller';

const SIXTY_DAYS = 60 * 24 * 60 * 60;

@Module({
  imports: [
    EventEmitterModule.forRoot(),
    SessionAuthModule.forRoot({
      controllers: false,
      users: { entity: User, username: 'email', passwordHash: 'password' },
      bcryptCost: BCRYPT_COST,
      passwordPolicy: { minLength: 8 },
      tokenSource: TokenScheme,
      absoluteTimeoutSeconds: SIXTY_DAYS,
      idleTimeoutSeconds: SIXTY_DAYS,
      accessTokenTtlSeconds: SIXTY_DAYS,
    }),
  ],
  controllers: [UsersController],
})
export class AuthModule {}
