// Starts an application with or without the module, and prints how long that took, in milliseconds.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import 'bcrypt';
import 'class-transformer';
import 'class-validator';
import 'ua-parser-js';

const { database, hasModule } = JSON.parse(process.argv[2]);
const beforeImport = performance.now();
const { AuthModule, withAuthTables } = await import('nestjs-session-auth');
const start = performance.now();
const options = hasModule ? withAuthTables({ ...database, migrationsRun: true }) : database;
class Application {}
Module({
  imports: [
    TypeOrmModule.forRoot(options),
    EventEmitterModule.forRoot(),
    ...(hasModule ? [AuthModule.forRoot({ pruneIntervalSeconds: false })] : []),
  ],
})(Application);
const app = await NestFactory.create(Application, { logger: ['error', 'fatal'] });
await app.listen(0, '127.0.0.1');
console.log(JSON.stringify({ importMs: start - beforeImport, startMs: performance.now() - start }));
process.exit(0);
