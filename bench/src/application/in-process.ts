import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSourceOptions } from 'typeorm';
import { make } from '../contenders/ours';

/** Starts the library in this process, without HTTP and without scheduled pruning. */
export async function openLibrary(database: DataSourceOptions, options: object): Promise<INestApplicationContext> {
  const { module } = await make({ database, sessions: 0, options: { pruneIntervalSeconds: false, ...options } });
  @Module({ imports: module.imports! })
  class LibraryModule {}
  return NestFactory.createApplicationContext(LibraryModule, { logger: ['error', 'fatal'] });
}
