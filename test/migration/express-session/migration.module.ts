import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ExchangeController } from './exchange.controller.js';
import { FormerSessions } from './former-sessions.js';
import { LogoutOfAllInterceptor } from './logout-of-all.interceptor.js';
import { TakeOverMiddleware } from './take-over.middleware.js';
import { TakenOver } from './taken-over.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([TakenOver])],
  controllers: [ExchangeController], // for clients that store tokens themselves
  providers: [FormerSessions, { provide: APP_INTERCEPTOR, useClass: LogoutOfAllInterceptor }],
})
export class MigrationModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(TakeOverMiddleware).exclude('auth/login', 'auth/token/refresh', 'exchange').forRoutes('{*path}');
  }
}
