import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  type INestApplication,
} from '@nestjs/common';
import { ApolloDriver } from '@nestjs/apollo';
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
import { Locked, LockedRequest, LockService } from '../../lib/index.js';
import { LockTestingModule, type MemoryServer } from '../../lib/memory/testing/index.js';
import { fail } from '../support/failing.js';

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

/** Who serves GraphQL. */
export const DRIVERS = {
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

export interface Answer {
  readonly status: number;
  readonly body: {
    readonly data?: unknown;
    readonly errors?: readonly { message: string; extensions?: Record<string, unknown> }[];
  };
}

/** An application whose accounts are locked on that server, and queried by GraphQL. */
export async function accountGraph(
  driver: keyof typeof DRIVERS,
  server: MemoryServer,
  { filter, mapErrors = true }: { filter?: ExceptionFilter; mapErrors?: boolean } = {},
): Promise<{ app: INestApplication; ask: (query: string) => Promise<Answer> }> {
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
  if (filter) app.useGlobalFilters(filter);
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/graphql`;
  const ask = async (query: string): Promise<Answer> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };
  return { app, ask };
}

/** An application's own filter, which sends what it has caught. */
@Catch()
export class CatchesAll implements ExceptionFilter {
  readonly seen: unknown[] = [];

  catch(exception: unknown, _: ArgumentsHost): unknown {
    this.seen.push(exception);
    return exception;
  }
}
