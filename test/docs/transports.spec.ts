import { NatsContext, RmqContext } from '@nestjs/microservices';
import { TokenSource } from 'nestjs-session-auth';
import { blocksOf } from './code-blocks';
import { runBlock } from './run-block';

describe('the token source in docs/transports.md', () => {
  const block = blocksOf('docs/transports.md').find(({ code }) => code.includes('extends TokenSource'))!;
  let source: TokenSource;
  beforeAll(() => {
    const forRoot = ({ tokenSource }: { tokenSource: new () => TokenSource }): void =>
      void (source = new tokenSource());
    runBlock(block, { modules: { 'nestjs-session-auth': { TokenSource, AuthModule: { forRoot } } } });
  });

  /** Returns the token of a call, as the guard does. */
  const find = (type: string, context: unknown): unknown =>
    source.find({ getType: () => type, getArgByIndex: () => context } as never);

  it('the token source reads the token and the address from the headers of a NATS message', () => {
    const headers = new Map([
      ['authorization', 'nsaa_x'],
      ['client-address', '192.0.2.1'],
    ]);
    expect(find('rpc', new NatsContext(['orders', headers]))).toEqual({
      accessToken: 'nsaa_x',
      client: { ipAddress: '192.0.2.1' },
    });
  });

  it('the token source finds no token, and does not throw, in a NATS message without headers or without a token', () => {
    expect(find('rpc', new NatsContext(['orders', undefined]))).toBeNull();
    expect(find('rpc', new NatsContext(['orders', new Map()]))).toBeNull();
  });

  it('the token source finds no token, and does not throw, in a RabbitMQ message, an HTTP request or a missing context', () => {
    expect(find('rpc', new RmqContext([{ properties: { headers: {} } }, {}, 'orders']))).toBeNull();
    expect(find('rpc', undefined)).toBeNull();
    expect(find('http', {})).toBeNull();
  });
});
