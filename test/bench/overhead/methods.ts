import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { library, testing } from '../adapters/library.js';
import { type Comparison, KEYS } from './subject.js';

/** A decorator that does nothing but what every asynchronous one must. */
function Wrapped() {
  return (_: object, __: string, descriptor: PropertyDescriptor): void => {
    const original = descriptor.value as (...args: unknown[]) => Promise<unknown>;
    descriptor.value = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      return original.apply(this, args);
    };
  };
}

/** What `@Locked` on a method of a provider costs. */
export async function methods(): Promise<Comparison> {
  const { Locked, LockService } = await library();
  const { LockTestingModule } = await testing();

  @Injectable()
  class Accounts {
    @Wrapped()
    async wrapped(id: number): Promise<number> {
      return id;
    }

    @Locked('account:<id>')
    async locked(id: number): Promise<number> {
      return id;
    }
  }

  const module = {
    module: class {},
    imports: [LockTestingModule.forRoot()],
    providers: [Accounts],
  };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  const accounts = app.get(Accounts);
  const locks = app.get(LockService);
  return {
    reference: { name: 'empty async wrapper', call: (turn) => accounts.wrapped(turn % KEYS) },
    subjects: [
      {
        name: 'locks.acquire and release',
        async call(turn) {
          const lease = await locks.acquire(`account:${turn % KEYS}`);
          return lease.release();
        },
      },
      {
        name: 'locks.withLock',
        call: (turn) => locks.withLock(`account:${turn % KEYS}`, async () => turn),
      },
      { name: '@Locked', over: 'locks.withLock', call: (turn) => accounts.locked(turn % KEYS) },
    ],
    close: () => app.close(),
  };
}
