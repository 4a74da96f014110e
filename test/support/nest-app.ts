import { afterAll, beforeAll } from '@jest/globals';
import type { INestApplication, Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { LockService, RedisLockModule } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';

/** The HTTP platforms of Nest, for `describe.each`. */
export const PLATFORMS = ['Express', 'Fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** What an application of a test consists of, beside `RedisLockModule`. */
export interface AppParts {
  controllers?: Type[];
  providers?: NonNullable<Parameters<typeof Test.createTestingModule>[0]['providers']>;
  imports?: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>;
}

type ModuleOptions = NonNullable<Parameters<typeof RedisLockModule.forRoot>[0]>;

/** One Redis for a spec file, and the applications started on it: all stopped by `stop`. */
export class NestBench {
  readonly #apps: INestApplication[] = [];
  redis!: RedisProcess;

  static async start(): Promise<NestBench> {
    const bench = new NestBench();
    await bench.start();
    return bench;
  }

  async start(): Promise<void> {
    this.redis = await RedisProcess.start();
  }

  /** A module with `RedisLockModule` on this bench's Redis, not yet compiled. What a test leaves held costs no grace at its end. */
  builder(
    { controllers = [], providers = [], imports = [] }: AppParts,
    options: ModuleOptions = {},
  ): TestingModuleBuilder {
    return Test.createTestingModule({
      imports: [
        RedisLockModule.forRoot({ redis: this.redis.url, shutdownGrace: 0, ...options }),
        ...imports,
      ],
      controllers,
      providers,
    });
  }

  async app(...args: Parameters<NestBench['builder']>): Promise<INestApplication> {
    const module = await this.builder(...args).compile();
    return this.use(module.createNestApplication({ logger: false }));
  }

  /** An application that answers HTTP at `url`. */
  async server(
    platform: Platform,
    parts: AppParts,
    options: ModuleOptions = {},
    { forceCloseConnections = true } = {},
  ): Promise<{ app: INestApplication; url: string }> {
    const module = await this.builder(parts, options).compile();
    const settings = { logger: false, forceCloseConnections } as const;
    const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(settings);
    const app = await this.use(module.createNestApplication(adapter, settings));
    await app.listen(0, '127.0.0.1');
    return { app, url: (await app.getUrl()).replace('[::1]', '127.0.0.1') };
  }

  /** The locks of another application: another replica, as far as Redis can tell. */
  async rival(): Promise<LockService> {
    return (await this.app({})).get(LockService);
  }

  async use<App extends INestApplication>(app: App): Promise<App> {
    this.#apps.push(app);
    return app.init();
  }

  async stop(): Promise<void> {
    try {
      for (const app of this.#apps) await app.close();
    } finally {
      await this.redis.stop();
    }
  }
}

/** The bench of a spec file: there for all its tests. */
export function useBench(): NestBench {
  const bench = new NestBench();
  beforeAll(() => bench.start());
  afterAll(() => bench.stop());
  return bench;
}
