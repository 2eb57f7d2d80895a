import 'reflect-metadata';
import { performance } from 'node:perf_hooks';
import { Controller, Module, UseGuards, type DynamicModule, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import {
  ClientProxyFactory,
  MessagePattern,
  type ClientOptions,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  AuthService,
  BearerAuthGuard,
  TokenSource,
  withAuthTables,
  type PresentedToken,
  type TransportCall,
} from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import type { DataSourceOptions } from 'typeorm';
import { availableBrokers, optionsOf, type BrokerName } from '../../test/support/brokers';
import { createDatabase } from '../../test/support/databases';

const REQUESTS = 2_000;
const WARM_UP = 200;
const LOGGED: Pick<NestApplicationOptions, 'logger'> = { logger: ['error', 'fatal'] };
const PASSWORD = 'correct horse battery staple';

@Controller()
class Handlers {
  @MessagePattern('open')
  open(): boolean {
    return true;
  }

  @MessagePattern('guarded')
  @UseGuards(BearerAuthGuard)
  guarded(): boolean {
    return true;
  }
}

class PayloadTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    return call.getArgByIndex<PresentedToken>(0);
  }
}

@Module({})
class BenchModule {
  static on(database: DataSourceOptions): DynamicModule {
    const imports = [
      TypeOrmModule.forRoot(withAuthTables({ ...database, migrationsRun: true })),
      EventEmitterModule.forRoot(),
      AuthModule.forRoot({ tokenSource: PayloadTokens, controllers: false, pruneIntervalSeconds: false }),
    ];
    return { module: BenchModule, imports, controllers: [Handlers] };
  }
}

/** Returns the median time of each way in milliseconds. The ways take turns, so that all meet the same conditions. */
async function measure(broker: BrokerName, database: DataSourceOptions): Promise<Record<string, number>> {
  const options = optionsOf(broker, `bench_${process.pid}`);
  const service = await NestFactory.createMicroservice<MicroserviceOptions>(BenchModule.on(database), {
    ...options,
    ...LOGGED,
  });
  await service.listen();
  const gateway = await NestFactory.createApplicationContext(BenchModule.on(database), LOGGED);
  const auth = gateway.get(AuthService);
  const client = ClientProxyFactory.create(options as ClientOptions);
  const username = `alice of ${broker}`;
  await auth.createUser({ username, password: PASSWORD });
  const { accessToken } = await auth.login({ username, password: PASSWORD });
  const send = (pattern: string, data: object): Promise<unknown> => firstValueFrom(client.send(pattern, data));
  const authenticate = async (): Promise<object> => ({ caller: { ...(await auth.authenticate(accessToken)) } });
  const ways = {
    'no authentication': () => send('open', {}),
    'the gateway authenticates': async () => send('open', await authenticate()),
    'the service verifies the token': () => send('guarded', { accessToken }),
    both: async () => send('guarded', { accessToken, ...(await authenticate()) }),
  };
  const times = new Map(Object.keys(ways).map((way): [string, number[]] => [way, []]));
  for (let i = 0; i < WARM_UP + REQUESTS; i++) {
    for (const [way, run] of Object.entries(ways)) {
      const start = performance.now();
      await run();
      if (i >= WARM_UP) times.get(way)!.push(performance.now() - start);
    }
  }
  await client.close();
  await Promise.all([service.close(), gateway.close()]);
  const median = (all: number[]): number => Number(all.sort((one, other) => one - other)[REQUESTS / 2]!.toFixed(2));
  return Object.fromEntries([...times].map(([way, all]) => [way, median(all)]));
}

async function main(): Promise<void> {
  const database = await createDatabase('postgres');
  const rows: Record<string, Record<string, number>> = {};
  for (const broker of availableBrokers()) rows[broker] = await measure(broker, database.options);
  console.log(`Median in milliseconds of ${REQUESTS} requests, one after another, on PostgreSQL`);
  console.table(rows);
  await database.drop();
}

void main();
