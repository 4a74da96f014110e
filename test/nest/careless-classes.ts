// Classes that a start warns of, since they override a lock or say ms by a bare number, and some that it leaves alone.
import { Controller, Get, Injectable } from '@nestjs/common';
import { LeaderOnly, Locked, LockedRequest } from '../../lib/index.js';

class Parent {
  @Locked('a')
  async work(): Promise<void> {}

  @Locked('b', { wait: 5 })
  async hasty(): Promise<void> {}

  @Locked('c', { wait: 0, ttl: '500ms' })
  async atOnce(): Promise<void> {}
}

@Injectable()
export class Forgetful extends Parent {
  override async work(): Promise<void> {}
}

class Jobs {
  @LeaderOnly('nightly')
  async nightly(): Promise<void> {}
}

@Injectable()
export class EveryReplica extends Jobs {
  override async nightly(): Promise<void> {}
}

class Routes {
  @LockedRequest('a')
  @Get('override')
  async get(): Promise<void> {}
}

@Controller()
export class Unlocked extends Routes {
  @Get('override')
  override async get(): Promise<void> {}
}

@Injectable()
export class Careful extends Parent {
  @Locked('a')
  override async work(): Promise<void> {}
}

@Injectable()
export class Leading {
  @LeaderOnly('hasty', { ttl: 900 })
  async work(): Promise<void> {}

  @LeaderOnly('calm', { ttl: '900ms' })
  async calm(): Promise<void> {}
}

@LockedRequest('b')
@Controller('within')
export class Within extends Routes {
  @Get('override')
  override async get(): Promise<void> {}
}
