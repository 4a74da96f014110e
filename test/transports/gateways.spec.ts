import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  type INestApplication,
  UseFilters,
} from '@nestjs/common';
import { Transport } from '@nestjs/microservices';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import {
  BaseWsExceptionFilter,
  MessageBody,
  type OnGatewayDisconnect,
  SubscribeMessage,
  WebSocketGateway,
  WsException,
} from '@nestjs/websockets';
import { defer, Observable } from 'rxjs';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { Locked, LockedRequest, LockErrorFilter, LockService } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { freePort } from '../../tools/redis-server.js';
import { ANSWERS, expectLogged, expectPublic, fail, failing, SECRET } from '../support/failing.js';
import { Gate } from '../support/gate.js';
import { untilFree } from '../support/inspected.js';

const failures = failing();
const { server, log } = failures;
const ended: (() => unknown)[] = [];

afterAll(async () => {
  for (const end of ended.reverse()) await end();
});

let started: Gate;
let gone: Gate;
let work: Gate;

@WebSocketGateway()
class Accounts implements OnGatewayDisconnect {
  constructor(private readonly locks: LockService) {}

  handleDisconnect(): void {
    gone?.open();
  }

  @LockedRequest('work:<data>', { wait: 0 })
  @SubscribeMessage('works')
  async works(@MessageBody() data: string): Promise<object> {
    started.open();
    return work.after(Promise.resolve({ event: 'well', data }));
  }

  @Locked('account:<id>', { wait: 0 })
  @SubscribeMessage('locked')
  async locked(@MessageBody() id: string): Promise<object> {
    return { event: 'well', data: id };
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @SubscribeMessage('request')
  async request(@MessageBody() id: string): Promise<object> {
    return { event: 'well', data: id };
  }

  @Locked('account:<id>', { wait: 0 })
  @SubscribeMessage('stream')
  stream(@MessageBody() id: string): Observable<object> {
    return defer(async () => ({ event: 'well', data: id }));
  }

  @SubscribeMessage('service')
  async service(@MessageBody() id: string): Promise<object> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => ({
      event: 'well',
      data: id,
    }));
  }

  @SubscribeMessage('fails')
  async fails(@MessageBody() kind: string): Promise<object> {
    fail(kind);
    return { event: 'well', data: kind };
  }

  @UseFilters(LockErrorFilter)
  @SubscribeMessage('filtered')
  async filtered(@MessageBody() kind: string): Promise<object> {
    fail(kind);
    return { event: 'well', data: kind };
  }
}

/** A gateway's own filter, for all that goes wrong. */
@Catch()
class CatchesAll implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    const { message } = exception as Error;
    new BaseWsExceptionFilter().catch(
      new WsException({ by: 'CatchesAll', status, message }) as never,
      host,
    );
  }
}

/** Knows nothing of locks. */
@Catch(WsException)
class CatchesOwn extends BaseWsExceptionFilter {}

@UseFilters(CatchesAll)
@WebSocketGateway()
class Filtered extends Accounts {}

@UseFilters(CatchesOwn)
@WebSocketGateway()
class FilteredOtherwise extends Accounts {}

/** A client: sends a message, and hears the next event that comes. */
interface Client {
  leave(): unknown;
  send(event: string, data: string): Promise<{ readonly event: string; readonly data: unknown }>;
}

async function overSocketIo(url: string): Promise<Client & { readonly socket: Socket }> {
  const socket = io(url, { transports: ['websocket'], reconnection: false });
  ended.push(() => socket.close());
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('connect_error', reject);
  });
  return {
    socket,
    leave: () => socket.close(),
    send: (event, data) =>
      new Promise((resolve) => {
        socket.onAny((heard: string, body: unknown) => {
          socket.offAny();
          resolve({ event: heard, data: body });
        });
        socket.emit(event, data);
      }),
  };
}

async function overWebSocket(url: string): Promise<Client> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  ended.push(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return {
    leave: () => socket.terminate(),
    send: (event, data) =>
      new Promise((resolve) => {
        socket.once('message', (text: Buffer) => resolve(JSON.parse(text.toString()) as never));
        socket.send(JSON.stringify({ event, data }));
      }),
  };
}

const PLATFORMS = {
  'socket.io': {
    adapter: (app: INestApplication) => new IoAdapter(app),
    connect: overSocketIo as (url: string) => Promise<Client>,
  },
  ws: { adapter: (app: INestApplication) => new WsAdapter(app), connect: overWebSocket },
} as const;
type Platform = keyof typeof PLATFORMS;

/** Of a hybrid application: whether its microservice inherits the configuration. */
type Hybrid = boolean | undefined;

async function start(
  platform: Platform,
  gateway: typeof Accounts = Accounts,
  { mapErrors = true, inheritAppConfig }: { mapErrors?: boolean; inheritAppConfig?: Hybrid } = {},
): Promise<string> {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ server, mapErrors })],
    providers: [gateway],
  }).compile();
  const app = module.createNestApplication({ logger: false, forceCloseConnections: true });
  ended.push(() => app.close());
  app.useWebSocketAdapter(PLATFORMS[platform].adapter(app));
  if (inheritAppConfig !== undefined) {
    const options = { host: '127.0.0.1', port: await freePort() };
    app.connectMicroservice({ transport: Transport.TCP, options }, { inheritAppConfig });
    await app.startAllMicroservices();
  }
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

function told(code: string, retryAfter: number | undefined): object {
  return {
    status: 'error',
    code,
    message: expect.any(String),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}
const BUSY = told('LOCK_NOT_ACQUIRED', 1);

const message = (kind: string): [string, string] =>
  kind === 'busy' ? ['locked', SECRET] : ['fails', kind];

describe.each(Object.keys(PLATFORMS) as Platform[])('a gateway on %s', (platform) => {
  const { connect } = PLATFORMS[platform];
  let url: string;
  let client: Client;
  beforeAll(async () => {
    url = await start(platform);
    client = await connect(url);
  });

  it('keeps the lock of a message while its handler works for a client that has gone', async () => {
    [started, gone, work] = [new Gate(), new Gate(), new Gate()];
    const leaving = await connect(url);
    void leaving.send('works', platform);
    await started.opened;
    await leaving.leave();
    await gone.opened;
    expect((await failures.rival.inspect(`work:${platform}`)).state).toBe('held');
    work.open();
    await untilFree(failures.rival, `work:${platform}`);
  });

  it.each(ANSWERS)('tells the client of %s in an exception (%i %s)', async (...row) => {
    const [kind, status, code, retryAfter] = row;
    const heard = await client.send(...message(kind));
    expectPublic(heard);
    expect(heard).toEqual({ event: 'exception', data: told(code, retryAfter) });
    expectLogged(log.lines, status);
  });

  it.each([
    ['request', SECRET],
    ['stream', SECRET],
    ['service', SECRET],
    ['filtered', 'thrown'],
  ])('tells it of a busy lock: %s', async (event, data) => {
    const heard = await client.send(event, data);
    expectPublic(heard);
    expect(heard).toEqual({ event: 'exception', data: BUSY });
    expect(log.lines).toEqual([]);
  });

  it('answers what went well', async () => {
    for (const event of ['locked', 'request', 'stream', 'service', 'fails', 'filtered']) {
      expect(await client.send(event, 'free')).toEqual({ event: 'well', data: 'free' });
    }
  });

  it.each([true, false])('does so in a hybrid application, inheritAppConfig: %s', async (each) => {
    const other = await connect(await start(platform, Accounts, { inheritAppConfig: each }));
    for (const event of ['locked', 'request', 'service']) {
      expect(await other.send(event, SECRET)).toEqual({ event: 'exception', data: BUSY });
    }
  });

  it('leaves the decision to a filter of its own that catches the error', async () => {
    const other = await connect(await start(platform, Filtered));
    for (const event of ['locked', 'request', 'service']) {
      const heard = await other.send(event, SECRET);
      expectPublic(heard);
      expect(heard).toEqual({
        event: 'exception',
        data: { by: 'CatchesAll', status: 409, message: expect.any(String) },
      });
    }
  });

  it('answers beside a filter of its own that does not', async () => {
    const other = await connect(await start(platform, FilteredOtherwise));
    expect(await other.send('locked', SECRET)).toEqual({ event: 'exception', data: BUSY });
  });

  it('with mapErrors: false maps nothing', async () => {
    const other = await connect(await start(platform, Accounts, { mapErrors: false }));
    const { event, data } = await other.send('locked', SECRET);
    expect(event).toBe('exception');
    expect(data).toMatchObject({ status: 'error', message: 'Internal server error' });
    expect(log.lines).toEqual([{ level: 'error', text: expect.stringContaining(SECRET) }]);
  });
});

describe('a gateway on socket.io', () => {
  it.each(['locked', 'request', 'service'])(
    'acknowledges, where the client wants to hear: %s',
    async (event) => {
      const { socket } = await overSocketIo(await start('socket.io'));
      const exception = new Promise((resolve) => socket.once('exception', resolve));
      const acknowledged: unknown = await socket.emitWithAck(event, SECRET);
      expectPublic(acknowledged);
      expect([acknowledged, await exception]).toEqual([BUSY, BUSY]);
    },
  );
});
