// Controllers that lock accounts by messages: under the decorators, under neither, and under a filter of their own.
import { Controller, Module, type Type, UseFilters } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { defer, Observable } from 'rxjs';
import { Locked, LockedRequest, LockErrorFilter, LockService } from '../../lib/index.js';
import { LockTestingModule, type MemoryServer } from '../../lib/memory/testing/index.js';
import { fail } from '../support/failing.js';

@Controller()
class Decorated {
  @Locked('account:<id>', { wait: 0 })
  @MessagePattern('locked')
  async locked(id: string): Promise<string> {
    return id;
  }

  @MessagePattern('below')
  @Locked('account:<id>', { wait: 0 })
  async below(id: string): Promise<string> {
    return id;
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @MessagePattern('request')
  async request(id: string): Promise<string> {
    return id;
  }

  @Locked('account:<id>', { wait: 0 })
  @MessagePattern('stream')
  stream(id: string): Observable<string> {
    return defer(async () => id);
  }

  @Locked('fails:<kind>')
  @MessagePattern('fails')
  async fails(kind: string): Promise<string> {
    fail(kind);
    return 'well';
  }

  @LockedRequest('fails:<data>')
  @MessagePattern('request-fails')
  async requestFails(kind: string): Promise<string> {
    fail(kind);
    return 'well';
  }

  @Locked('account:<id>', { wait: 0 })
  @EventPattern('event')
  async event(id: string): Promise<string> {
    return id;
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @EventPattern('request-event')
  async requestEvent(id: string): Promise<string> {
    return id;
  }

  @Locked('fails:<kind>')
  @EventPattern('event-fails')
  async eventFails(kind: string): Promise<void> {
    fail(kind);
  }
}

@Controller()
class Plain {
  constructor(private readonly locks: LockService) {}

  @MessagePattern('service')
  async service(id: string): Promise<string> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => id);
  }
}

@UseFilters(LockErrorFilter)
@Controller()
class Filtered {
  constructor(private readonly locks: LockService) {}

  @MessagePattern('filtered')
  async filtered(id: string): Promise<string> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => id);
  }
}

/** An application with these controllers, whose locks are on that server. */
export function accountMessages(server: MemoryServer, mapErrors = true): Type {
  @Module({
    imports: [LockTestingModule.forRoot({ server, mapErrors })],
    controllers: [Decorated, Plain, Filtered],
  })
  class Application {}
  return Application;
}
