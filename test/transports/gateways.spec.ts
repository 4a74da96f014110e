import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Transport } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { freePort } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { ANSWERS, expectLogged, expectPublic, failing, SECRET } from '../support/failing.js';
import { Gate } from '../support/gate.js';
import { untilFree } from '../support/inspected.js';
import { Accounts, AddsWork, Filtered, FilteredOtherwise, work } from './accounts-gateway.js';
import { type Client, overSocketIo, type Platform, PLATFORMS } from './web-sockets.js';

const failures = failing();
const { server, log } = failures;
afterAll(closeAll);

const BUSY = told('LOCK_NOT_ACQUIRED', 1);

describe.each(Object.keys(PLATFORMS) as Platform[])('a gateway on %s', (platform) => {
  const { connect } = PLATFORMS[platform];
  let url: string;
  let client: Client;
  beforeAll(async () => {
    url = await start(platform);
    client = await connect(url);
  });

  it.each([Accounts, AddsWork])(
    'keeps the lock of a message while its handler works for a client that has gone: %p',
    async (gateway) => {
      Object.assign(work, { started: new Gate(), gone: new Gate(), ends: new Gate() });
      const leaving = await connect(await start(platform, gateway));
      void leaving.send('works', platform);
      await work.started.opened;
      await leaving.leave();
      await work.gone.opened;
      await client.send('service', 'free');
      expect((await failures.rival.inspect(`work:${platform}`)).state).toBe('held');
      work.ends.open();
      await untilFree(failures.rival, `work:${platform}`);
    },
  );

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

function message(kind: string): [string, string] {
  return kind === 'busy' ? ['locked', SECRET] : ['fails', kind];
}

/** Of a hybrid application: whether its microservice inherits the configuration. */
type Hybrid = boolean | undefined;

async function start(
  platform: Platform,
  gateway: Type = Accounts,
  { mapErrors = true, inheritAppConfig }: { mapErrors?: boolean; inheritAppConfig?: Hybrid } = {},
): Promise<string> {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ server, mapErrors })],
    providers: [gateway],
  }).compile();
  const app = module.createNestApplication({ logger: false, forceCloseConnections: true });
  closing.push(() => app.close());
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
