import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSourceOptions } from 'typeorm';
import { make } from '../contenders/ours';

/** Opens the library without HTTP, in the process of the bench. Pruning does not run by itself. */
export async function openLibrary(database: DataSourceOptions, options: object): Promise<INestApplicationContext> {
  const { module } = await make({ database, sessions: 0, options: { pruneIntervalSeconds: false, ...options } });
  @Module({ imports: module.imports! })
  class LibraryModule {}
  return NestFactory.createApplicationContext(LibraryModule, { logger: ['error', 'fatal'] });
}
