import { beforeAll, describe, expect, it } from '@jest/globals';
import { isLockError, type LockService } from '../../lib/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { Accounts, ERRORS, SECRET } from './errors-of-every-kind.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe.each(PLATFORMS)('an error of a lock on %s', (platform) => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server(platform, { controllers: [Accounts] }));
  });

  it.each([
    ['busy', 409, 'LOCK_NOT_ACQUIRED', 'Conflict', '1'],
    ['store', 503, 'LOCK_STORE', 'Service Unavailable', '1'],
    ['limit', 503, 'LOCK_LIMIT', 'Service Unavailable', '1'],
    ['crowd', 429, 'LOCK_LIMIT', 'Too Many Requests', '2'],
    ['full', 429, 'LOCK_LIMIT', 'Too Many Requests', '1'],
    ['slow', 429, 'LOCK_LIMIT', 'Too Many Requests', '60'],
    ['shutdown', 503, 'LOCK_SHUTDOWN', 'Service Unavailable', '1'],
    ['lost', 500, 'LEASE_LOST', 'Internal Server Error', null],
    ['stale', 500, 'STALE_FENCING_TOKEN', 'Internal Server Error', null],
    ['foreign', 500, 'FOREIGN_LOCK', 'Internal Server Error', null],
    ['options', 500, 'LOCK_OPTIONS', 'Internal Server Error', null],
    ['key', 400, 'LOCK_KEY', 'Bad Request', null],
  ])('%s is answered with %i and its code, never with the key', async (...row) => {
    const [kind, status, code, error, retryAfter] = row;
    const answer = await fetch(`${url}/errors/${kind}`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(answer.headers.get('content-type')).toContain('application/json');
    const body = await answer.text();
    expect(JSON.parse(body)).toEqual({
      statusCode: status,
      error,
      code,
      message: expect.any(String),
    });
    expect(body).not.toContain(SECRET);
  });

  it('leaves other errors to Nest', async () => {
    const answer = await fetch(`${url}/errors/missing`);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      expect.objectContaining({ message: SECRET }),
    ]);
  });

  it('answers 409 for a key that a request made and another holds', async () => {
    const lease = await rival.acquire(`account:${SECRET}`);
    const answer = await fetch(`${url}/accounts/${SECRET}`);
    expect(answer.status).toBe(409);
    expect(await answer.text()).not.toContain(SECRET);
    await lease.release();
    expect((await fetch(`${url}/accounts/${SECRET}`)).status).toBe(200);
  });

  it.each(['method', 'request'])(
    'answers 429 to the second who waits where one may, under @Locked and @LockedRequest: %s',
    async (route) => {
      const lease = await rival.acquire(`crowd:${SECRET}`);
      const first = fetch(`${url}/${route}/${SECRET}`);
      await until('it waits', async () => (await rival.inspect(`crowd:${SECRET}`)).waiting === 1);
      const answer = await fetch(`${url}/${route}/${SECRET}`);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await answer.json()).toMatchObject({ code: 'LOCK_LIMIT' });
      await lease.release();
      expect((await first).status).toBe(200);
    },
  );

  it('answers 400 for a value that no key can take', async () => {
    expect((await fetch(`${url}/account`)).status).toBe(400);
    expect((await fetch(`${url}/account?id=${'x'.repeat(600)}`)).status).toBe(400);
    expect((await fetch(`${url}/account?id=1`)).status).toBe(200);
  });
});

describe('with mapErrors: false', () => {
  it('every error of a lock is one that Nest does not know', async () => {
    const { url } = await bench.server(
      'Express',
      { controllers: [Accounts] },
      { mapErrors: false },
    );
    for (const kind of ['busy', 'store', 'key']) {
      const answer = await fetch(`${url}/errors/${kind}`);
      expect([answer.status, await answer.json()]).toEqual([
        500,
        { statusCode: 500, message: 'Internal server error' },
      ]);
    }
  });
});

describe('an error of this library', () => {
  it('is known by its code, its name, and to isLockError', () => {
    for (const kind of Object.keys(ERRORS)) {
      const error = ERRORS[kind]!();
      expect(isLockError(error)).toBe(kind !== 'missing');
      if (!isLockError(error)) continue;
      const capitals = error.name
        .replace(/Error$/, '')
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
        .toUpperCase();
      expect(error.code).toBe(capitals);
      expect(error.name).toBe(error.constructor.name);
    }
    expect([isLockError(undefined), isLockError('x'), isLockError(new Error('x'))]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
