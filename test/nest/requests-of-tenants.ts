import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Observable, of, tap } from 'rxjs';
import { LockedRequest, lockKey, LockService } from '../../lib/index.js';
import { Balance } from '../support/balance.js';

/** What happened in the latest request, and under which locks. */
export const latest = { steps: [] as string[], locks: undefined! as LockService };

export const held = (): string[] => KEYS.filter((key) => latest.locks.current(key)?.held);
export const KEYS = ['tenant:acme', 'user:7', 'outer:1', 'inner:1', 'base:1'];

@Injectable()
class SignedIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ user: object }>().user = { id: 7, tenantId: 'acme' };
    latest.steps.push(`guard ${held().join()}`);
    return true;
  }
}

@Injectable()
class Transaction implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    latest.steps.push(`begin ${held().join()}`);
    return next.handle().pipe(tap(() => latest.steps.push(`commit ${held().join()}`)));
  }
}

/** What a stream of a tenant ends with. */
export const balance = new Balance();

/** Every handler runs under the lock of the tenant that a guard found, and some under further ones. */
@Controller('tenants')
@UseGuards(SignedIn)
@LockedRequest('tenant:<user.tenantId>')
export class Tenants {
  constructor(private readonly service: LockService) {}

  @Get('controller')
  async controller(): Promise<string[]> {
    return held();
  }

  @LockedRequest('user:<user.id>')
  @UseInterceptors(Transaction)
  @Get('both')
  async both(): Promise<string[]> {
    latest.steps.push('handler');
    return held();
  }

  @LockedRequest('outer:<params.id>')
  @LockedRequest('inner:<params.id>')
  @Get('several/:id')
  async several(@Param('id', ParseIntPipe) _id: number): Promise<unknown> {
    return [held(), this.service.current()!.key];
  }

  @LockedRequest((context) => lockKey`user:${context.switchToHttp().getRequest().user.id}`)
  @Get('function')
  async function(): Promise<string[]> {
    return held();
  }

  @LockedRequest('user:<user.id>', { reentrant: false, wait: '1s' })
  @Get('once')
  async once(): Promise<string[]> {
    return held();
  }

  @Get('stream')
  stream(): Observable<number> {
    return of(1, 2, balance.value);
  }

  @Get('none')
  @LockedRequest('none:<params.id>')
  async none(): Promise<string> {
    return 'ran';
  }
}

/** Keys from every part of a request. */
@Controller('roots')
export class Roots {
  @LockedRequest('<body.order.id>:<query.page>:<headers.X-Tenant>:<params.id>')
  @Post(':id')
  async post(): Promise<string> {
    return latest.locks.current()!.key;
  }

  @LockedRequest('from:<ip>')
  @Get('ip')
  async ip(): Promise<string> {
    return latest.locks.current()!.key;
  }

  @LockedRequest('chat:<data.room>')
  @Get('data')
  async data(): Promise<string> {
    return 'ran';
  }
}

@LockedRequest('base:1')
@Controller('base')
export class Base {
  @Get()
  async get(): Promise<string[]> {
    return held();
  }
}

@LockedRequest('outer:1')
@Controller('derived')
export class Derived extends Base {}
