import { readFileSync } from 'node:fs';
import { filesBelow } from '../architecture/files-below.js';
import type { Block } from './pages.js';

/** Imports and declarations that an `@example` leaves out, as a reader knows them from an application. */
const AROUND = `
import type { AsyncLocalStorage } from 'node:async_hooks';
import { Body, type CanActivate, Module, Post } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import type { HealthCheckService } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import type { Job, Queue } from 'bullmq';
import { register } from 'prom-client';
import {
  type Condition, CurrentLease, fencedSql, InjectLockService, LeaderOnly, Lease, lockChannels, Locked, LockedRequest,
  LockKey, LockService, lockServiceToken, RedisLockModule,
} from 'nest-redis-lock';
import { LockBoardModule } from 'nest-redis-lock/board';
import { instrumentLocks, LockInstrumentation } from 'nest-redis-lock/opentelemetry';
import { registerLockMetrics } from 'nest-redis-lock/prometheus';
import type { LockHealthIndicator } from 'nest-redis-lock/terminus';
import { LockTestingModule, ManualClock, memoryLockService } from 'nest-redis-lock/testing';

declare class AccountsService {}
declare class AdminGuard implements CanActivate { canActivate(): boolean }
declare class AppModule {}
declare class NodeSDK { constructor(options: { instrumentations: Instrumentation[] }); start(): void }
declare class Order {}
declare const locks: LockService, lease: Lease, condition: Condition;
declare const key: string, id: string, balance: number, signal: AbortSignal, ready: boolean;
declare const db: { query(sql: string, values: unknown[]): Promise<{ rowCount: number }> };
declare const job: Job<{ lock: string }>, queue: Queue, storage: AsyncLocalStorage<string>;
declare function exportOrders(): Promise<void>;
declare function pay(account: number, token: number): Promise<void>;
declare function read(): Promise<string>;
declare function use(data: string): void;
`;

/** Each `@example` of a doc comment in lib, as a file of its own that compiles. */
export function examples(): Block[] {
  return filesBelow('lib', '.ts').flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const found = text.matchAll(/@example(?:\s+\*)? (?:```ts\n([^]*?)```|`([^`\n]+)`$)?/gm);
    return [...found].map(({ 1: block, 2: line, index }) => {
      const place = `${file}:${text.slice(0, index).split('\n').length}`;
      const code = (block ?? line)?.replaceAll(/^\s*\* ?/gm, '').trim();
      if (!code) throw new Error(`${place}: an @example is \`code\` on its line, or a ts block.`);
      return { place, code: `${AROUND}${whole(code)}\n` };
    });
  });
}

/** The class of a decorator, the class of a member, or the function of statements. */
function whole(code: string): string {
  if (code.startsWith('@Module(')) return `${code}\nexport class Example {}`;
  if (/^(?:@|constructor\b)/.test(code)) return `export class Example {\n${code}\n}`;
  const self = 'this: { health: HealthCheckService; locks: LockHealthIndicator }';
  return `export async function example(${self}) {\n${code}\n}`;
}
