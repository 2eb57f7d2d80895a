import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Request } from 'express';
import { Repository } from 'typeorm';
import type { MakeContender } from './contender';
import { digestOf, fillPlainTables, PLAIN_ENTITIES, PlainSession, tokenOf } from './plain-tables';
import { routeBehind } from './route';

/** A typical hand-written guard: loads the session with its user as entities. */
@Injectable()
class RepositoryGuard implements CanActivate {
  constructor(@InjectRepository(PlainSession) private readonly sessions: Repository<PlainSession>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Omit<Request, 'session'> & { session?: PlainSession }>();
    const digest = digestOf(tokenOf(request.headers.authorization));
    const session = await this.sessions.findOne({ where: { digest }, relations: { user: true } });
    if (!session || Number(session.expiresAt) <= new Date().getTime() || !session.user.active) {
      throw new UnauthorizedException();
    }
    request.session = session;
    return true;
  }
}

export const make: MakeContender = async (setup) => {
  const headers = await fillPlainTables(setup.database, setup.sessions);
  return {
    module: {
      imports: [
        TypeOrmModule.forRoot({ ...setup.database, entities: PLAIN_ENTITIES }),
        TypeOrmModule.forFeature([PlainSession]),
      ],
      controllers: [routeBehind(RepositoryGuard)],
      providers: [RepositoryGuard],
    },
    credentials: () => Promise.resolve(headers),
  };
};
