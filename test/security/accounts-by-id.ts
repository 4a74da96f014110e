import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Redis } from 'ioredis';
import { CurrentLease, type Lease, Locked } from '../../lib/index.js';

/** Answers with the key that is locked, and all that Redis has meanwhile. */
@Controller()
export class Accounts {
  constructor(private readonly redis: Redis) {}

  @Post('accounts')
  @Locked('account:<id>')
  async post(@Body('id') id: unknown, @CurrentLease() lease?: Lease): Promise<unknown> {
    return { id, key: lease!.key, names: await this.redis.keys('*') };
  }

  @Get('accounts')
  @Locked('account:<id>')
  async get(@Query('id') id: unknown, @CurrentLease() lease?: Lease): Promise<unknown> {
    return { id, key: lease!.key, names: await this.redis.keys('*') };
  }

  @Post('deep')
  @Locked('account:<body.account.id>')
  async deep(@Body() body: unknown): Promise<unknown> {
    return body;
  }
}

/** Ids of accounts that would be more than text to a script, a pattern, a path, a terminal, an object or the protocol of Redis. */
export const TEXTS = [
  'all:1',
  '1}:queue',
  '{1}',
  '*',
  '?[a-z]',
  '%3A',
  '%',
  '..',
  "1' redis.call('FLUSHALL') --",
  "]] redis.call('FLUSHALL') --[[",
  '1\r\n*1\r\n$8\r\nFLUSHALL\r\n',
  '\u0000\u0001\u007f\u0085',
  '\u001b[2J',
  'ключ 😀',
  '__proto__',
  'constructor',
  '<script>alert(1)</script>',
  '99999999999999-nest-redis-lock:shared',
];
