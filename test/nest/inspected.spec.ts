import { expect, it } from '@jest/globals';
import { Controller, type INestApplication, Injectable, Post } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { inspect } from 'node:util';
import {
  Locked,
  LockedRequest,
  LockErrorFilter,
  LockService,
  RedisLockModule,
} from 'nest-redis-lock';
import { LockBoardModule } from 'nest-redis-lock/board';
import { LockHealthIndicator } from 'nest-redis-lock/terminus';
import { LockErrorInterceptor } from '../../lib/nest/interceptors/lock-error.interceptor.js';
import { LockInterceptor } from '../../lib/nest/interceptors/lock.interceptor.js';
import { ShutdownHooksCheck } from '../../lib/nest/services/shutdown-hooks-check.js';

@Controller()
class JobsController {
  @Post()
  @LockedRequest('job')
  async start() {}
}

@Injectable()
class Jobs {
  constructor(readonly locks: LockService) {}

  @Locked('job')
  async run() {}
}

const OURS = [
  RedisLockModule,
  LockBoardModule,
  LockService,
  LockErrorFilter,
  LockErrorInterceptor,
  LockInterceptor,
  LockHealthIndicator,
  ShutdownHooksCheck,
  JobsController,
  Jobs,
];

it('who inspects an application meets none of Nest again through what is ours', async () => {
  const module = await Test.createTestingModule({
    imports: [
      RedisLockModule.forRoot({ lazyConnect: true }),
      LockBoardModule.forRoot({ open: true }),
      TerminusModule.forRoot({ logger: false }),
    ],
    controllers: [JobsController],
    providers: [Jobs, LockHealthIndicator],
  }).compile();
  const app = await module.createNestApplication({ logger: false }).init();
  const all = instancesIn(app);
  const sizes = OURS.map((type) => {
    const text = inspect(
      all.find((one) => one instanceof type),
      { depth: 12 },
    );
    return [type.name, text.startsWith(type.name) ? text.length : Infinity] as const;
  });
  expect(sizes.filter(([, size]) => size > 1_000)).toEqual([]);
  await app.close();
});

/** What Nest has made in an application, in whatever place. */
function instancesIn(app: INestApplication): unknown[] {
  return [...app.get(ModulesContainer).values()]
    .flatMap(({ providers, injectables, controllers }) => [providers, injectables, controllers])
    .flatMap((made) => [...made.values()].map(({ instance }) => instance as unknown));
}
