import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('sso_accounts')
export class Account {
  @PrimaryColumn() iss!: string;
  @PrimaryColumn() sub!: string;
  @Column() userId!: string;
}

/** An accepted logout token. It is stored until it expires, so that it is accepted only once. */
@Entity('sso_logout_tokens')
export class LogoutToken {
  @PrimaryColumn() jti!: string;
  @Column('bigint') exp!: number;
}

declare module 'nestjs-session-auth' {
  interface SessionData {
    sso: { iss: string; sub: string; sid: unknown };
  }
}
