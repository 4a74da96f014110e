import type { INestApplication, Type } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { RedisLockModule, type RedisLockOptions } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';

/** One Redis for a spec file, and the applications started on it: all stopped by `stop`. */
export class NestBench {
  readonly #apps: INestApplication[] = [];

  private constructor(readonly redis: RedisProcess) {}

  static async start(): Promise<NestBench> {
    return new NestBench(await RedisProcess.start());
  }

  /** A module with `RedisLockModule` on this bench's Redis, not yet compiled. */
  builder(
    classes: {
      controllers?: Type[];
      providers?: Type[];
      imports?: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>;
    },
    options: RedisLockOptions = {},
  ): TestingModuleBuilder {
    const { controllers = [], providers = [], imports = [] } = classes;
    return Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ redis: this.redis.url, ...options }), ...imports],
      controllers,
      providers,
    });
  }

  async app(...args: Parameters<NestBench['builder']>): Promise<INestApplication> {
    const module = await this.builder(...args).compile();
    return this.use(module.createNestApplication({ logger: false }));
  }

  async use<App extends INestApplication>(app: App): Promise<App> {
    this.#apps.push(app);
    return app.init();
  }

  async stop(): Promise<void> {
    for (const app of this.#apps) await app.close();
    await this.redis.stop();
  }
}
