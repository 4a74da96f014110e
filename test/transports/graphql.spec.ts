import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApolloDriver } from '@nestjs/apollo';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  type INestApplication,
} from '@nestjs/common';
import {
  Args,
  Context,
  GraphQLModule,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Locked, LockedRequest, LockError, lockKey, LockService } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { ANSWERS, expectLogged, expectPublic, fail, failing, SECRET } from '../support/failing.js';

const failures = failing();
const { server, log } = failures;
const apps: INestApplication[] = [];

afterAll(async () => {
  for (const app of apps) await app.close();
});

const typeDefs = `
  type Account { owner: String!, balance: String!, plain: String! }
  type Query {
    locked(id: String!): String!
    request(id: String!): String!
    service(id: String!): String!
    fails(kind: String!): String!
    tenant(id: String): String!
    account(id: String!): Account!
    context(id: String!): String!
    contextOfRequest(id: String!): String!
    response(id: String!): String!
    responseOfRequest(id: String!): String!
  }
`;

@Resolver('Account')
class Accounts {
  constructor(private readonly locks: LockService) {}

  @Locked('account:<id>', { wait: 0 })
  @Query('locked')
  async locked(@Args('id') id: string): Promise<string> {
    return id;
  }

  @LockedRequest('account:<args.id>', { wait: 0 })
  @Query('request')
  async request(@Args('id') id: string): Promise<string> {
    return id;
  }

  @Query('service')
  async service(@Args('id') id: string): Promise<string> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => id);
  }

  @Query('fails')
  async fails(@Args('kind') kind: string): Promise<string> {
    fail(kind);
    return 'well';
  }

  @Locked('tenant:<id>')
  @Query('tenant')
  async tenant(@Args('id') id: string): Promise<string> {
    return id;
  }

  @Locked('account:<id>')
  @Query('context')
  async context(@Args('id') id: string, @Context() _: object): Promise<string> {
    return id;
  }

  @LockedRequest('account:<args.id>')
  @Query('contextOfRequest')
  async contextOfRequest(@Args('id') id: string, @Context() _: object): Promise<string> {
    return id;
  }

  @Query('response')
  @Locked('account:<id>')
  async response(@Args('id') id: string, @Context('res') _: object): Promise<string> {
    return id;
  }

  @LockedRequest('account:<args.id>')
  @Query('responseOfRequest')
  async responseOfRequest(@Args('id') id: string, @Context('res') _: object): Promise<string> {
    return id;
  }

  @Query('account')
  account(@Args('id') owner: string): object {
    return { owner };
  }

  @Locked('account:<account.owner>', { wait: 0 })
  @ResolveField('balance')
  async balance(@Parent() account: { owner: string }): Promise<string> {
    return account.owner;
  }

  @ResolveField('plain')
  async plain(@Parent() account: { owner: string }): Promise<string> {
    return this.locks.withLock(`account:${account.owner}`, { wait: 0 }, async () => 'free');
  }
}

/** An application's own filter, which sends what it has caught. */
@Catch()
class CatchesAll implements ExceptionFilter {
  catch(exception: unknown, _: ArgumentsHost): unknown {
    seen.push(exception);
    return exception;
  }
}
let seen: unknown[] = [];

interface Answer {
  readonly status: number;
  readonly body: {
    readonly data?: unknown;
    readonly errors?: readonly { message: string; extensions?: Record<string, unknown> }[];
  };
}

const DRIVERS = {
  'Apollo on Express': {
    adapter: () => new ExpressAdapter(),
    options: { driver: ApolloDriver, preserveHttpStatusForExecutionErrors: false },
  },
  'Apollo on Fastify, with stacks': {
    adapter: () => new FastifyAdapter(),
    options: {
      driver: ApolloDriver,
      preserveHttpStatusForExecutionErrors: false,
      includeStacktraceInErrorResponses: true,
    },
  },
  Mercurius: { adapter: () => new FastifyAdapter(), options: { driver: MercuriusDriver } },
} as const;

async function start(
  driver: keyof typeof DRIVERS,
  filter?: ExceptionFilter,
  mapErrors = true,
): Promise<(query: string) => Promise<Answer>> {
  const { adapter, options } = DRIVERS[driver];
  const module = await Test.createTestingModule({
    imports: [
      LockTestingModule.forRoot({ server, mapErrors }),
      GraphQLModule.forRoot({
        ...options,
        typeDefs,
        graphiql: false,
        fieldResolverEnhancers: filter ? [] : ['interceptors'],
      } as never),
    ],
    providers: [Accounts],
  }).compile();
  const app = module.createNestApplication(adapter() as never, {
    logger: false,
    forceCloseConnections: true,
  });
  apps.push(app);
  if (filter) app.useGlobalFilters(filter);
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/graphql`;
  return async (query) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };
}

const query = (kind: string): string =>
  kind === 'busy' ? `{ locked(id: "${SECRET}") }` : `{ fails(kind: "${kind}") }`;

describe.each(Object.keys(DRIVERS) as (keyof typeof DRIVERS)[])('GraphQL with %s', (driver) => {
  const isApollo = driver.startsWith('Apollo');
  let ask: (query: string) => Promise<Answer>;
  beforeAll(async () => {
    ask = await start(driver);
  });

  /** The one error of an answer, and that it is public but for the client's own words, which it echoes. */
  async function errorOf(text: string, echoed = false): Promise<Record<string, unknown>> {
    const { body } = await ask(text);
    expect(body.errors).toHaveLength(1);
    if (!echoed) expectPublic(body.errors);
    return { message: body.errors![0]!.message, ...body.errors![0]!.extensions };
  }

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
});

describe.each(['Apollo on Express', 'Mercurius'] as const)(
  'in an application with %s',
  (driver) => {
    it('a filter of its own decides, about an error that may be sent', async () => {
      seen = [];
      const ask = await start(driver, new CatchesAll());
      const { body } = await ask(query('busy'));
      expectPublic(body);
      expect(seen.length).toBe(1);
      expect(seen[0]).toBeInstanceOf(LockError);
      expect(body.errors![0]!.extensions).toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
      expectPublic((await ask(`{ account(id: "${SECRET}") { balance } }`)).body);
    });

    it('mapErrors: false maps nothing', async () => {
      const ask = await start(driver, undefined, false);
      const { body } = await ask(query('busy'));
      expect(body.errors![0]!.extensions?.['code']).not.toBe('LOCK_NOT_ACQUIRED');
      expect(log.lines.filter(({ text }) => text.includes(SECRET)).length).toBe(1);
    });
  },
);
