import { Module, type NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthController, AuthModule, withAuthTables, type AuthRequest } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { delayWhen } from 'rxjs';
import { Authenticator, FactorToken } from './entities.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactors } from './second-factors.service.js';

const database = process.env['DATABASE'] ?? 'example.sqlite';
const sqlite = { type: 'better-sqlite3', driver: NodeSqlite, database, synchronize: true } as const;
const endOfTrust = (factors: SecondFactors): NestInterceptor => ({
  intercept(context, next) {
    if (context.getHandler() !== AuthController.prototype.logoutAll) return next.handle();
    const { auth } = context.switchToHttp().getRequest<AuthRequest>();
    return next.handle().pipe(delayWhen(() => factors.endTrust(auth!))); // not if the call is refused
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
