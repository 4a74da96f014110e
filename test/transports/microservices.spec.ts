import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClientProxy, type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { ANSWERS, expectLogged, expectPublic, failing, SECRET } from '../support/failing.js';
import { until } from '../support/until.js';
import { accountMessages } from './account-messages.js';
import { APPLICATIONS, CatchesAll, ListeningApplications } from './listening-applications.js';

const { server, log } = failing();
const accounts = accountMessages(server);
const applications = new ListeningApplications();
let redis: RedisProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

const TRANSPORTS = ['TCP', 'Redis'] as const;
const BUSY = {
  status: 'error',
  code: 'LOCK_NOT_ACQUIRED',
  message: expect.any(String),
  retryAfter: 1,
};

describe.each(APPLICATIONS)('%s', (kind) => {
  const clients: Record<string, ClientProxy> = {};

  beforeAll(async () => {
    const options = { TCP: await overTcp(), Redis: overRedis() };
    await applications.start(accounts, kind, Object.values(options));
    for (const each of TRANSPORTS) clients[each] = applications.connect(options[each]);
  });
  afterAll(() => applications.end());

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

const DECIDED = { by: 'CatchesAll', status: 409, message: expect.any(String) };

describe.each(APPLICATIONS)('in %s', (kind) => {
  afterAll(() => applications.end());

  it('a global filter of the application decides where it reaches, and knows the status', async () => {
    const options = await overTcp();
    await applications.start(accounts, kind, [options], new CatchesAll());
    const client = applications.connect(options);
    const inherits = kind !== 'a hybrid that does not';
    for (const pattern of ['locked', 'request', ...(inherits ? ['service'] : [])]) {
      expect(await refusal(client, pattern, SECRET)).toEqual(inherits ? DECIDED : BUSY);
    }
    expect(await refusal(client, 'filtered', SECRET)).toEqual(BUSY);
  });

  it('mapErrors: false maps nothing, and Nest logs it', async () => {
    const options = await overTcp();
    await applications.start(accountMessages(server, false), kind, [options]);
    const client = applications.connect(options);
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

async function overTcp(): Promise<MicroserviceOptions> {
  return { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } };
}

function overRedis(): MicroserviceOptions {
  return { transport: Transport.REDIS, options: { host: '127.0.0.1', port: redis.port } };
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
