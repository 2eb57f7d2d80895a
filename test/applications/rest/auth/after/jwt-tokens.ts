import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { FormerToken, FormerTokens } from 'nestjs-session-auth';

interface Claims {
  id: number;
  use: 'access' | 'refresh';
  iat: number;
}

/** Accepts the access tokens that were issued before, until the last one has expired. */
@Injectable()
export class JwtTokens extends FormerTokens {
  constructor(private readonly jwts: JwtService) {
    super();
  }

  async verify(token: string): Promise<FormerToken | null> {
    const claims = await this.jwts.verifyAsync<Claims>(token).catch(() => null);
    return claims?.use === 'access' ? { userId: claims.id, issuedAt: new Date(claims.iat * 1000) } : null;
  }
}
