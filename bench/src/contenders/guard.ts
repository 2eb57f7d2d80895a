import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AUTH_MIGRATIONS, AuthModule, AuthService, BearerAuthGuard } from 'nestjs-session-auth';
import { timesAsync, type MakeContender } from './contender';
import { routeBehind } from './route';

/** The library, set up as in its README, with access tokens that outlive the measurement. */
export const make: MakeContender = (setup) =>
  Promise.resolve({
    module: {
      imports: [
        TypeOrmModule.forRoot({
          ...setup.database,
          entities: [...AUTH_ENTITIES],
          migrations: [...AUTH_MIGRATIONS],
          migrationsRun: true,
        }),
        EventEmitterModule.forRoot(),
        AuthModule.forRoot({ accessTokenTtlSeconds: 3600, ...setup.options }),
      ],
      controllers: [routeBehind(BearerAuthGuard)],
    },
    async credentials(app) {
      const auth = app.get(AuthService);
      return timesAsync(setup.sessions, async (index) => {
        const user = await auth.createUser({ username: `user ${index}`, password: null });
        const { accessToken } = await auth.openSession(user);
        return { authorization: `Bearer ${accessToken}` };
      });
    },
  });
