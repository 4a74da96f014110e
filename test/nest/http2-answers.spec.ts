import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { LockService } from '../../lib/index.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { Rows } from './rows-with-res.js';

let session: ClientHttp2Session;
afterAll(() => session.destroy()); // before the server closes, which waits for it
const bench = useBench();
let locks: LockService;
beforeAll(async () => {
  locks = await bench.rival();
  const module = await bench.builder({ controllers: [Rows] }).compile();
  const adapter = new FastifyAdapter({ http2: true });
  const app = await bench.use(
    module.createNestApplication<NestFastifyApplication>(adapter, { logger: false }),
  );
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  session = connect(`http://127.0.0.1:${port}`);
});

const ask = (path: string): ClientHttp2Stream => session.request({ ':path': path });

describe('a handler with @Res() on HTTP/2 gives its lock back', () => {
  it('when it has awaited the end of its answer', async () => {
    expect(await text(ask('/rows'))).toBe('firstlast');
    await untilFree(locks, 'rows');
  });

  it('when its client has left while it waited', async () => {
    const lease = await locks.acquire('rows');
    const stream = ask('/row');
    stream.on('error', () => {});
    await untilWaiting(locks, 'rows');
    stream.close();
    await once(stream, 'close');
    await lease.release();
    await untilFree(locks, 'rows');
  });
});
