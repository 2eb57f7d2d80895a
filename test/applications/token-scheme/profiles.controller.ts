import { Controller, Get, HttpCode, NotFoundException, Param, Post } from '@nestjs/common';
import { CurrentUser, LoginOptional, LoginRequired } from './auth';
import { User } from './user.entity';
import { UsersService } from './users.service';

@Controller('profiles')
export class ProfilesController {
  constructor(private readonly users: UsersService) {}

  @Get(':username')
  @LoginOptional()
  async profile(@Param('username') username: string, @CurrentUser() viewer: User | null) {
    const user = await this.find(username);
    const following = viewer !== null && (await this.users.isFollowing(viewer, user));
    return { profile: { username, bio: user.bio, following } };
  }

  @Post(':username/follow')
  @HttpCode(200)
  @LoginRequired()
  async follow(@Param('username') username: string, @CurrentUser() viewer: User) {
    await this.users.follow(viewer, await this.find(username));
    return this.profile(username, viewer);
  }

  private async find(username: string) {
    const user = await this.users.findByName(username);
    if (!user) throw new NotFoundException();
    return user;
  }
}
