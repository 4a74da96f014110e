// #region testing
import { Test } from '@nestjs/testing';
import { LockTestingModule, ManualClock } from 'nest-redis-lock/testing';
// #endregion
import { LockService } from 'nest-redis-lock';
import { TransferService } from './service.js';

// #region testing

export async function leaseEndsByItself(): Promise<boolean[]> {
  const clock = new ManualClock(); // stands still until the test moves it
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ clock })], // no Redis
    providers: [TransferService],
  }).compile();
  const lease = await module.get(LockService).acquire('account:1', { ttl: '10s', renew: false });
  const before = lease.held;
  await clock.advance(10_000);
  return [before, lease.held];
}
// #endregion
