import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  HttpException,
  type INestApplication,
  type INestMicroservice,
  Module,
  UseFilters,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  Transport,
} from '@nestjs/microservices';
import { defer, firstValueFrom, Observable, throwError } from 'rxjs';
import { Locked, LockedRequest, LockErrorFilter, LockService } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { ANSWERS, expectLogged, expectPublic, fail, failing, SECRET } from '../support/failing.js';
import { until } from '../support/until.js';

const { server, log } = failing();
let redis: RedisProcess;
const ended: (() => unknown)[] = [];

beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

/** What a description has started: all applications hear all messages of one Redis. */
async function endAll(): Promise<void> {
  for (const end of ended.splice(0).reverse()) await end();
}

@Controller()
class Decorated {
  @Locked('account:<id>', { wait: 0 })
  @MessagePattern('locked')
  async locked(id: string): Promise<string> {
    return id;
  }

  @MessagePattern('below')
  @Locked('account:<id>', { wait: 0 })
  async below(id: string): Promise<string> {
    return id;
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @MessagePattern('request')
  async request(id: string): Promise<string> {
    return id;
  }

  @Locked('account:<id>', { wait: 0 })
  @MessagePattern('stream')
  stream(id: string): Observable<string> {
    return defer(async () => id);
  }

  @Locked('fails:<kind>')
  @MessagePattern('fails')
  async fails(kind: string): Promise<string> {
    fail(kind);
    return 'well';
  }

  @LockedRequest('fails:<data>')
  @MessagePattern('request-fails')
  async requestFails(kind: string): Promise<string> {
    fail(kind);
    return 'well';
  }

  @Locked('account:<id>', { wait: 0 })
  @EventPattern('event')
  async event(id: string): Promise<string> {
    return id;
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @EventPattern('request-event')
  async requestEvent(id: string): Promise<string> {
    return id;
  }

  @Locked('fails:<kind>')
  @EventPattern('event-fails')
  async eventFails(kind: string): Promise<void> {
    fail(kind);
  }
}

@Controller()
class Plain {
  constructor(private readonly locks: LockService) {}

  @MessagePattern('service')
  async service(id: string): Promise<string> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => id);
  }
}

@UseFilters(LockErrorFilter)
@Controller()
class Filtered {
  constructor(private readonly locks: LockService) {}

  @MessagePattern('filtered')
  async filtered(id: string): Promise<string> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => id);
  }
}

const controllers = [Decorated, Plain, Filtered];

@Module({ imports: [LockTestingModule.forRoot({ server })], controllers })
class Application {}

@Module({ imports: [LockTestingModule.forRoot({ server, mapErrors: false })], controllers })
class Unmapped {}

/** An application's own filter for messages. */
@Catch()
class CatchesAll implements ExceptionFilter {
  catch(exception: unknown, _: ArgumentsHost): Observable<never> {
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    const { message } = exception as Error;
    return throwError(() => ({ by: 'CatchesAll', status, message }));
  }
}

const APPLICATIONS = [
  'a microservice',
  'a hybrid that inherits',
  'a hybrid that does not',
] as const;
type Kind = (typeof APPLICATIONS)[number];
const TRANSPORTS = ['TCP', 'Redis'] as const;

async function startServer(
  kind: Kind,
  options: readonly MicroserviceOptions[],
  { module = Application, filter }: { module?: typeof Unmapped; filter?: ExceptionFilter } = {},
): Promise<void> {
  if (kind === 'a microservice') {
    for (const each of options) {
      const app: INestMicroservice = await NestFactory.createMicroservice(module, {
        ...each,
        logger: false,
      } as never);
      ended.push(() => app.close());
      if (filter) app.useGlobalFilters(filter);
      await app.listen();
    }
    return;
  }
  const app: INestApplication = await NestFactory.create(module, { logger: false });
  ended.push(() => app.close());
  if (filter) app.useGlobalFilters(filter);
  for (const each of options) {
    app.connectMicroservice(each, { inheritAppConfig: kind === 'a hybrid that inherits' });
  }
  await app.startAllMicroservices();
  await app.init();
}

async function overTcp(): Promise<MicroserviceOptions> {
  return { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } };
}

/** What a client is told instead of an answer. */
async function refusal(client: ClientProxy, pattern: string, data: string): Promise<unknown> {
  let told: unknown;
  await expect(
    firstValueFrom(client.send(pattern, data)).catch((error: unknown) => {
      told = error;
      throw error;
    }),
  ).rejects.toBeDefined();
  expectPublic(told);
  return told;
}

function connect(options: MicroserviceOptions): ClientProxy {
  const client: ClientProxy = ClientProxyFactory.create(options as never) as never;
  ended.push(() => client.close());
  return client;
}

const BUSY = {
  status: 'error',
  code: 'LOCK_NOT_ACQUIRED',
  message: expect.any(String),
  retryAfter: 1,
};

const DECIDED = { by: 'CatchesAll', status: 409, message: expect.any(String) };

describe.each(APPLICATIONS)('%s', (kind) => {
  const clients: Record<string, ClientProxy> = {};

  beforeAll(async () => {
    const options = {
      TCP: await overTcp(),
      Redis: {
        transport: Transport.REDIS,
        options: { host: '127.0.0.1', port: redis.port },
      } as MicroserviceOptions,
    };
    await startServer(kind, Object.values(options));
    for (const each of TRANSPORTS) clients[each] = connect(options[each]);
  });

  afterAll(endAll);

  describe.each(TRANSPORTS)('over %s', (transport) => {
    it.each(['locked', 'below', 'request', 'stream', 'filtered'])(
      'tells the client of a busy lock at once: %s',
      async (pattern) => {
        expect(await refusal(clients[transport]!, pattern, SECRET)).toEqual(BUSY);
        expect(log.lines).toEqual([]);
      },
    );

    it.each(
      ANSWERS.slice(1).flatMap((row) =>
        ['fails', 'request-fails'].map((p) => [p, ...row] as const),
      ),
    )(
      'tells the client of a failure: %s %s',
      async (pattern, failure, status, code, retryAfter) => {
        expect(await refusal(clients[transport]!, pattern, failure)).toEqual({
          status: 'error',
          code,
          message: expect.any(String),
          ...(retryAfter === undefined ? {} : { retryAfter }),
        });
        expectLogged(log.lines, status);
      },
    );

    it('answers what went well', async () => {
      for (const pattern of ['locked', 'request', 'stream', 'fails', 'request-fails']) {
        expect(await firstValueFrom(clients[transport]!.send(pattern, 'free'))).toMatch(
          /free|well/,
        );
      }
    });

    it.each([
      ['event', SECRET, 'warn'],
      ['request-event', SECRET, 'warn'],
      ['event-fails', 'thrown', 'warn'],
      ['event-fails', 'lost', 'error'],
    ])('logs an event that was not handled, once: %s %s', async (pattern, data, level) => {
      await firstValueFrom(clients[transport]!.emit(pattern, data), { defaultValue: undefined });
      await until('the event is logged', () => log.lines.length > 0);
      // A second message behind it: what the event had to say is said.
      await firstValueFrom(clients[transport]!.send('fails', 'free'));
      expect(log.lines).toEqual([{ level, text: expect.stringContaining(SECRET) }]);
    });

    it('keeps the key from the client also where a handler is under no decorator', async () => {
      const told = await refusal(clients[transport]!, 'service', SECRET);
      const inherits = kind !== 'a hybrid that does not';
      expect(told).toEqual(inherits ? BUSY : { status: 'error', message: 'Internal server error' });
      expect(log.lines.length).toBe(inherits ? 0 : 1);
    });
  });
});

describe.each(APPLICATIONS)('in %s', (kind) => {
  afterAll(endAll);

  it('a global filter of the application decides where it reaches, and knows the status', async () => {
    const options = await overTcp();
    await startServer(kind, [options], { filter: new CatchesAll() });
    const client = connect(options);
    const inherits = kind !== 'a hybrid that does not';
    for (const pattern of ['locked', 'request', ...(inherits ? ['service'] : [])]) {
      expect(await refusal(client, pattern, SECRET)).toEqual(inherits ? DECIDED : BUSY);
    }
    expect(await refusal(client, 'filtered', SECRET)).toEqual(BUSY);
  });

  it('mapErrors: false maps nothing, and Nest logs it', async () => {
    const options = await overTcp();
    await startServer(kind, [options], { module: Unmapped });
    const client = connect(options);
    for (const pattern of ['locked', 'request', 'service']) {
      expect(await refusal(client, pattern, SECRET)).toEqual({
        status: 'error',
        message: 'Internal server error',
      });
      expect(log.lines).toEqual([{ level: 'error', text: expect.stringContaining(SECRET) }]);
      log.clear();
    }
  });
});
