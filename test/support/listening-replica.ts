import { type LoggerService, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { appendFileSync } from 'node:fs';
import { RedisLockModule } from '../../lib/index.js';

export interface ListeningReplicaOptions {
  readonly redis: string;
  /** `silent` hears no signal; `hooks` enables Nest's after it listens; `own` has a listener; `script` listens to no port. */
  readonly kind: 'silent' | 'hooks' | 'own' | 'script';
  /** Where its log goes, and a line `past` once all is said that is said. */
  readonly log: string;
}

/** What an application does at its start, of which the library may say something. */
export async function start({ redis, kind, log }: ListeningReplicaOptions): Promise<void> {
  const write = (text: unknown): void => appendFileSync(log, `${String(text)}\n`);
  const logger: LoggerService = { log() {}, warn: write, error: write };

  @Module({ imports: [RedisLockModule.forRoot({ redis, durability: 'ignore' })] })
  class App {}

  if (kind === 'script') {
    await NestFactory.createApplicationContext(App, { logger });
  } else {
    const app = await NestFactory.create(App, { logger });
    await app.listen(0, '127.0.0.1');
    if (kind === 'hooks') app.enableShutdownHooks();
    if (kind === 'own') process.once('SIGINT', () => void app.close());
  }
  setTimeout(() => write('past'), 6_000); // behind the library's timer, which is set before
}
