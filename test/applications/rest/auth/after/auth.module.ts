import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { JwtModule } from '@nestjs/jwt';
import { AuthModule as SessionAuthModule } from 'nestjs-session-auth';
import { BCRYPT_COST, JWT_SECRET } from '../../config';
import { User } from '../../user.entity';
import { AuthController } from './auth.controller';
import { JwtTokens } from './jwt-tokens';

@Module({
  imports: [
    JwtModule.register({ global: true, secret: JWT_SECRET }),
    EventEmitterModule.forRoot(),
    SessionAuthModule.forRoot({
      controllers: false,
      users: { entity: User, username: 'email', passwordHash: 'password', select: ['roleId'] },
      bcryptCost: BCRYPT_COST,
      formerTokens: JwtTokens,
    }),
  ],
  controllers: [AuthController],
})
export class AuthModule {}
