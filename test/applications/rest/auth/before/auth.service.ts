import { Injectable, UnauthorizedException, UnprocessableEntityException } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { compare } from 'bcrypt';
import { UsersService } from '../../users.service';

interface Claims {
  id: number;
  use: 'access' | 'refresh';
}

const ACCESS_SECONDS = 15 * 60;

@Injectable()
export class AuthService {
  constructor(
    private readonly jwts: JwtService,
    private readonly users: UsersService,
  ) {}

  async login(email: string, password: string) {
    const user = await this.users.findByEmail(email);
    if (!user || !(await compare(password, user.password))) {
      throw new UnprocessableEntityException({ status: 422, errors: { password: 'incorrectPassword' } });
    }
    return { ...(await this.tokensOf(user.id)), user: await this.users.findById(user.id) };
  }

  async refresh(header: string) {
    const { id } = await this.userOf(header, 'refresh');
    return this.tokensOf(id);
  }

  async userOf(header = '', use: Claims['use']) {
    const claims = await this.jwts.verifyAsync<Claims>(header.replace(/^Bearer /, '')).catch(() => null);
    const user = claims?.use === use ? await this.users.findById(claims.id) : null;
    if (!user) throw new UnauthorizedException();
    return user;
  }

  private async tokensOf(id: number) {
    const token = await this.jwts.signAsync({ id, use: 'access' }, { expiresIn: ACCESS_SECONDS });
    const refreshToken = await this.jwts.signAsync({ id, use: 'refresh' }, { expiresIn: '30d' });
    return { token, refreshToken, tokenExpires: Date.now() + ACCESS_SECONDS * 1000 };
  }
}
