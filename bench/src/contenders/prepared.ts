import { UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { MakeContender } from './contender';
import { digestOf, fillPlainTables, tokenOf } from './plain-tables';
import { openRaw, type Row, type Values } from './raw-query';
import { routeBehind } from './route';

/** The fastest guard with one query per request: a prepared statement of the driver that joins session and user. */
class PreparedGuard implements CanActivate {
  constructor(private readonly find: (values: Values) => Promise<readonly Row[]>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Omit<Request, 'session'> & { session?: Row }>();
    const [row] = await this.find([digestOf(tokenOf(request.headers.authorization))]);
    if (!row || Number(row['expires_at']) <= new Date().getTime() || !row['active']) throw new UnauthorizedException();
    request.session = row;
    return true;
  }
}

export const make: MakeContender = async (setup) => {
  const headers = await fillPlainTables(setup.database, setup.sessions);
  const find = openRaw(setup.database).prepare(
    'session_by_digest',
    `SELECT s.id, s.expires_at, u.id AS user_id, u.username, u.active
     FROM sessions s JOIN users u ON u.id = s.userId WHERE s.digest = ?`.replace(
      's.userId',
      setup.database.type === 'postgres' ? 's."userId"' : 's.userId',
    ),
  );
  return {
    module: { controllers: [routeBehind(new PreparedGuard(find))] },
    credentials: () => Promise.resolve(headers),
  };
};
