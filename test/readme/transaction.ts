import { Injectable } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';

/** What happened, in order. */
export const journal: string[] = [];

function Transactional(): MethodDecorator {
  return (_target, _name, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => Promise<unknown>;
    descriptor.value = async function (this: unknown, ...args: unknown[]): Promise<unknown> {
      journal.push('begin');
      const result = await method.apply(this, args);
      journal.push('commit');
      return result;
    };
  };
}

@Injectable()
export class LedgerService {
  // #region transaction
  @Locked('account:<0>') // 1. the lock … 4. given back after the commit
  @Transactional() //       2. the transaction … 3. committed under the lock
  async post(account: string, amount: number): Promise<void> {
    journal.push(`${account} ${amount}`);
  }
  // #endregion
}
