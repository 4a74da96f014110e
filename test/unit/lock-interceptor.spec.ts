import { expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { of } from 'rxjs';
import { LockInterceptor } from '../../lib/nest/interceptors/lock.interceptor.js';
import { collectGarbage } from '../support/collect-garbage.js';

class Bound {
  async work(): Promise<void> {}
}

it('keeps no handler that a controller binds for each request', async () => {
  const interceptor = new LockInterceptor({} as ModuleRef);
  const handlers = Array.from({ length: 10 }, () => {
    const handler = Bound.prototype.work.bind(new Bound());
    const context = { getClass: () => Bound, getHandler: () => handler };
    interceptor.intercept(context as unknown as ExecutionContext, { handle: () => of(1) });
    return new WeakRef(handler);
  });
  await collectGarbage();
  expect(handlers.filter((handler) => handler.deref() !== undefined).length).toBeLessThan(3);
});
