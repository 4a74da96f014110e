// Routes that fail with every error of this library, or whose locks are busy.
import { Controller, Get, NotFoundException, Param, Query } from '@nestjs/common';
import {
  ForeignLockError,
  LeaseLostError,
  Locked,
  LockedRequest,
  LockKeyError,
  LockLimitError,
  LockNotAcquiredError,
  LockOptionsError,
  LockShutdownError,
  LockStoreError,
  StaleFencingTokenError,
} from '../../lib/index.js';

/** In every error: no client may see it. */
export const SECRET = 'customer-4711';

export const ERRORS: Record<string, () => Error> = {
  busy: () =>
    Object.assign(new LockNotAcquiredError(SECRET, 5), {
      holder: { host: SECRET, pid: 1, label: SECRET },
    }),
  store: () => new LockStoreError(`Redis failed for ${SECRET}`, { key: SECRET }),
  limit: () => new LockLimitError(SECRET, 'leases', 1),
  crowd: () => new LockLimitError(SECRET, 'maxWaiting', 5, { retryAfter: 1_001 }),
  full: () => new LockLimitError(SECRET, 'waitersPerKey', 5),
  slow: () => new LockLimitError(SECRET, 'maxWaiting', 5, { retryAfter: 3_600_000 }),
  shutdown: () => new LockShutdownError(SECRET),
  lost: () => new LeaseLostError(SECRET, 'expired'),
  foreign: () => new ForeignLockError(SECRET, 'hash'),
  options: () => new LockOptionsError(`wrong: ${SECRET}`),
  stale: () => new StaleFencingTokenError(SECRET, 5, 7, SECRET),
  key: () => new LockKeyError(`wrong: ${SECRET}`),
  missing: () => new NotFoundException(SECRET),
};

@Controller()
export class Accounts {
  @Get('errors/:kind')
  async error(@Param('kind') kind: string): Promise<void> {
    throw ERRORS[kind]!();
  }

  @Locked('account:<id>', { wait: 0 })
  @Get('accounts/:id')
  async account(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Locked('crowd:<id>', { maxWaiting: 1 })
  @Get('method/:id')
  async method(@Param('id') id: string): Promise<string> {
    return id;
  }

  @LockedRequest('crowd:<params.id>', { maxWaiting: 1 })
  @Get('request/:id')
  async request(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Locked('account:<id>')
  @Get('account')
  async query(@Query('id') id: string): Promise<string> {
    return id;
  }
}
