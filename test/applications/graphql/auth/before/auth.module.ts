import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { JWT_SECRET } from '../../config';
import { AuthResolver } from './auth.resolver';

@Module({
  imports: [JwtModule.register({ global: true, secret: JWT_SECRET })],
  providers: [AuthResolver],
})
export class AuthModule {}
