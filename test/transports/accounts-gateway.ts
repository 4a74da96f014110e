import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  UseFilters,
} from '@nestjs/common';
import {
  BaseWsExceptionFilter,
  MessageBody,
  type OnGatewayDisconnect,
  SubscribeMessage,
  WebSocketGateway,
  WsException,
} from '@nestjs/websockets';
import { defer, firstValueFrom, Observable, of } from 'rxjs';
import { Locked, LockedRequest, LockErrorFilter, LockService } from '../../lib/index.js';
import { fail } from '../support/failing.js';
import { Gate } from '../support/gate.js';

/** That a message is at work, that its client has gone, and that the work may end. */
export const work = { started: new Gate(), gone: new Gate(), ends: new Gate() };

/** Accounts that messages lock in every way, and that fail as they are told to. */
@WebSocketGateway()
export class Accounts implements OnGatewayDisconnect {
  constructor(private readonly locks: LockService) {}

  handleDisconnect(): void {
    work.gone.open();
  }

  @LockedRequest('work:<data>', { wait: 0 })
  @SubscribeMessage('works')
  async works(@MessageBody() data: string): Promise<object> {
    work.started.open();
    return work.ends.after(Promise.resolve({ event: 'well', data }));
  }

  @Locked('account:<id>', { wait: 0 })
  @SubscribeMessage('locked')
  async locked(@MessageBody() id: string): Promise<object> {
    return { event: 'well', data: id };
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @SubscribeMessage('request')
  async request(@MessageBody() id: string): Promise<object> {
    return { event: 'well', data: id };
  }

  @Locked('account:<id>', { wait: 0 })
  @SubscribeMessage('stream')
  stream(@MessageBody() id: string): Observable<object> {
    return defer(async () => ({ event: 'well', data: id }));
  }

  @SubscribeMessage('service')
  async service(@MessageBody() id: string): Promise<object> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => ({
      event: 'well',
      data: id,
    }));
  }

  @SubscribeMessage('fails')
  async fails(@MessageBody() kind: string): Promise<object> {
    fail(kind);
    return { event: 'well', data: kind };
  }

  @UseFilters(LockErrorFilter)
  @SubscribeMessage('filtered')
  async filtered(@MessageBody() kind: string): Promise<object> {
    fail(kind);
    return { event: 'well', data: kind };
  }
}

@LockedRequest('work:<data>', { wait: 0 })
abstract class Works {
  @SubscribeMessage('list')
  list(): Observable<string> {
    return of('listed');
  }
}

/** Adds a handler under its parent's lock, which calls its parent's. */
@WebSocketGateway()
export class AddsWork extends Works implements OnGatewayDisconnect {
  handleDisconnect(): void {
    work.gone.open();
  }

  @SubscribeMessage('works')
  async works(): Promise<string> {
    const listed = await firstValueFrom(this.list());
    work.started.open();
    return work.ends.after(Promise.resolve(listed));
  }
}

/** A gateway's own filter, for all that goes wrong. */
@Catch()
class CatchesAll implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    const { message } = exception as Error;
    new BaseWsExceptionFilter().catch(
      new WsException({ by: 'CatchesAll', status, message }) as never,
      host,
    );
  }
}

/** Knows nothing of locks. */
@Catch(WsException)
class CatchesOwn extends BaseWsExceptionFilter {}

@UseFilters(CatchesAll)
@WebSocketGateway()
export class Filtered extends Accounts {}

@UseFilters(CatchesOwn)
@WebSocketGateway()
export class FilteredOtherwise extends Accounts {}
