import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { JWT_SECRET } from '../../config';
import { UsersController } from './users.controller';

@Module({
  imports: [JwtModule.register({ global: true, secret: JWT_SECRET, signOptions: { expiresIn: '60d' } })],
  controllers: [UsersController],
})
export class AuthModule {}
