import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { setTimeout } from 'node:timers/promises';

export interface Page {
  readonly page: number;
  readonly balance: number;
  readonly fencingToken: number;
}

/** Slow; all processes see what it has printed. */
@Injectable()
export class Printer {
  constructor(private readonly redis: Redis) {}

  async print(account: string, page: Page): Promise<void> {
    await setTimeout(100);
    await this.redis.rpush(`statement:${account}`, JSON.stringify(page));
  }

  async printed(account: string): Promise<Page[]> {
    const pages = await this.redis.lrange(`statement:${account}`, 0, -1);
    return pages.map((page) => JSON.parse(page) as Page);
  }
}
