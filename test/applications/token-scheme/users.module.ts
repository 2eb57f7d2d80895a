import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProfilesController } from './profiles.controller';
import { Follow, User } from './user.entity';
import { UsersService } from './users.service';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([User, Follow])],
  controllers: [ProfilesController],
  providers: [UsersService],
  exports: [UsersService],
})
export class UsersModule {}
