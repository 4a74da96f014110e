import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LockError, lockKey } from '../../lib/index.js';
import { ANSWERS, expectLogged, expectPublic, failing, SECRET } from '../support/failing.js';
import { accountGraph, type Answer, CatchesAll, DRIVERS } from './account-graph.js';

const failures = failing();
const { server, log } = failures;
const apps: INestApplication[] = [];
afterAll(async () => {
  for (const app of apps) await app.close();
});

describe.each(Object.keys(DRIVERS) as (keyof typeof DRIVERS)[])('GraphQL with %s', (driver) => {
  const isApollo = driver.startsWith('Apollo');
  let ask: (query: string) => Promise<Answer>;
  beforeAll(async () => {
    ask = await start(driver);
  });

  it.each(ANSWERS)('answers %s with %i %s', async (kind, status, code, retryAfter) => {
    const answer = await ask(query(kind));
    expectPublic(answer);
    expect(answer.status).toBe(isApollo ? status : 200);
    const [error] = answer.body.errors!;
    expect(error!.extensions).toMatchObject({
      code,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      // Apollo makes it the status of the answer.
      ...(isApollo ? {} : { http: { status } }),
    });
    expect(error!.message).not.toBe('');
    expectLogged(log.lines, status);
  });

  it.each([
    ['@LockedRequest', `{ request(id: "${SECRET}") }`],
    ['a lock of the service', `{ service(id: "${SECRET}") }`],
    ['a field under @Locked', `{ account(id: "${SECRET}") { balance } }`],
    ['a field that is intercepted', `{ account(id: "${SECRET}") { plain } }`],
  ])('answers so under %s', async (_, text) => {
    expect(await errorOf(text)).toMatchObject({ code: 'LOCK_NOT_ACQUIRED', retryAfter: 1 });
    expect(log.lines).toEqual([]);
  });

  it('answers what went well', async () => {
    const { body } = await ask('{ locked(id: "a") request(id: "b") account(id: "c") { balance } }');
    expect(body).toEqual({ data: { locked: 'a', request: 'b', account: { balance: 'c' } } });
  });

  it.each(['context', 'contextOfRequest', 'response', 'responseOfRequest'])(
    'gives the lock back before it answers where @Context() stands: %s',
    async (field) => {
      const id = `${driver} ${field}`;
      const { body } = await ask(`{ one: ${field}(id: "${id}") two: ${field}(id: "${id}") }`);
      expect(body).toEqual({ data: { one: id, two: id } });
      expect((await failures.rival.inspect(lockKey`account:${id}`)).state).toBe('free');
    },
  );

  it('logs a value of a key that is missing', async () => {
    expect(await errorOf('{ tenant }')).toMatchObject({ code: 'LOCK_KEY' });
    expect(log.lines).toEqual([{ level: 'warn', text: expect.stringContaining('"tenant:<id>"') }]);
  });

  /** The one error of an answer, and that it is public but for the client's own words, which it echoes. */
  async function errorOf(text: string, echoed = false): Promise<Record<string, unknown>> {
    const { body } = await ask(text);
    expect(body.errors).toHaveLength(1);
    if (!echoed) expectPublic(body.errors);
    return { message: body.errors![0]!.message, ...body.errors![0]!.extensions };
  }
});

describe.each(['Apollo on Express', 'Mercurius'] as const)(
  'in an application with %s',
  (driver) => {
    it('a filter of its own decides, about an error that may be sent', async () => {
      const filter = new CatchesAll();
      const { seen } = filter;
      const ask = await start(driver, { filter });
      const { body } = await ask(query('busy'));
      expectPublic(body);
      expect(seen.length).toBe(1);
      expect(seen[0]).toBeInstanceOf(LockError);
      expect(body.errors![0]!.extensions).toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
      expectPublic((await ask(`{ account(id: "${SECRET}") { balance } }`)).body);
    });

    it('mapErrors: false maps nothing', async () => {
      const ask = await start(driver, { mapErrors: false });
      const { body } = await ask(query('busy'));
      expect(body.errors![0]!.extensions?.['code']).not.toBe('LOCK_NOT_ACQUIRED');
      expect(log.lines.filter(({ text }) => text.includes(SECRET)).length).toBe(1);
    });
  },
);

async function start(
  driver: keyof typeof DRIVERS,
  options?: Parameters<typeof accountGraph>[2],
): Promise<(query: string) => Promise<Answer>> {
  const { app, ask } = await accountGraph(driver, server, options);
  apps.push(app);
  return ask;
}

function query(kind: string): string {
  return kind === 'busy' ? `{ locked(id: "${SECRET}") }` : `{ fails(kind: "${kind}") }`;
}
