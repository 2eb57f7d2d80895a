import { Module, type NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthController, AuthModule, PasswordController, withAuthTables, type AuthRequest } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { Authenticator, FactorToken } from './entities.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactors } from './second-factors.service.js';

const database = process.env['DATABASE'] ?? 'example.sqlite';
const sqlite = { type: 'better-sqlite3', driver: NodeSqlite, database, synchronize: true } as const;
/** Before these handlers run, the user's device tokens are deleted. */
const HANDLERS: unknown[] = [AuthController.prototype.logoutAll, PasswordController.prototype.change];
const endOfTrust = (factors: SecondFactors): NestInterceptor => ({
  async intercept(context, next) {
    const { auth } = context.switchToHttp().getRequest<AuthRequest>();
    if (auth && HANDLERS.includes(context.getHandler())) await factors.endTrust(auth);
    return next.handle();
  },
});

@Module({
  imports: [
    TypeOrmModule.forRoot(withAuthTables({ ...sqlite, entities: [Authenticator, FactorToken] })),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({ secondFactor: SecondFactors, endpoints: { reauthenticate: true } }),
  ],
  controllers: [SecondFactorController],
  providers: [SecondFactors, { provide: APP_INTERCEPTOR, useFactory: endOfTrust, inject: [SecondFactors] }],
})
export class AppModule {}
