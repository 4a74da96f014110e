// Accounts and routes that answer which label their lock has.
import { Controller, type ExecutionContext, Get, Injectable, Param } from '@nestjs/common';
import { Locked, LockedRequest, LockService } from '../../lib/index.js';

async function labelOf(locks: LockService, key: string): Promise<string | undefined> {
  return (await locks.inspect(key)).holder?.label;
}

@Injectable()
export class Accounts {
  readonly bank = 'acme';

  constructor(readonly locks: LockService) {}

  @Locked('account:<id>')
  async debit(id: string) {
    return labelOf(this.locks, `account:${id}`);
  }

  @Locked('account:<id>', { label: 'nightly' })
  async settle(id: string) {
    return labelOf(this.locks, `account:${id}`);
  }

  @Locked('account:<id>', {
    label(this: Accounts, id: string) {
      return `${this.bank} ${id}`;
    },
  })
  async close(id: string) {
    return labelOf(this.locks, `account:${id}`);
  }

  @Locked('account:<id>', { label: () => 'a\nb' })
  async wrong(id: string) {
    return id;
  }

  @Locked('export:<id>', { permits: 2 })
  async aMethodWhoseNameIsLongerThanALabelMayBeAndThatIsCutThere(id: string) {
    return (await this.locks.inspect(`export:${id}`)).holders?.[0]?.label;
  }
}

@Controller()
export class Routes {
  constructor(readonly locks: LockService) {}

  @Get('plain/:id')
  @LockedRequest('route:<params.id>')
  async plain(@Param('id') id: string) {
    return { label: await labelOf(this.locks, `route:${id}`) };
  }

  @Get('said/:id')
  @LockedRequest('route:<params.id>', { label: 'imports' })
  async said(@Param('id') id: string) {
    return { label: await labelOf(this.locks, `route:${id}`) };
  }

  @Get('asked/:id')
  @LockedRequest('route:<params.id>', {
    label: (context: ExecutionContext) =>
      context.switchToHttp().getRequest<{ params: { id: string } }>().params.id,
  })
  async asked(@Param('id') id: string) {
    return { label: await labelOf(this.locks, `route:${id}`) };
  }
}
