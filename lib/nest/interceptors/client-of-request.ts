import {
  type CallHandler,
  type ExecutionContext,
  HttpException,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Observable } from 'rxjs';
import { endOfResponse } from '../services/end-of-stream.js';

/** The status by which logs of proxies show that a client left; no client receives it. */
const CLIENT_CLOSED_REQUEST = 499;

/** Returns a signal that aborts when the response is over: nobody needs the lock then. Undefined where there is no response. */
export function clientGone(response: unknown): AbortSignal | undefined {
  const end = endOfResponse(response);
  if (!end) return undefined;
  const gone = new AbortController();
  const text = 'The client left while its request waited for a lock.';
  void end.then(() => gone.abort(new HttpException(text, CLIENT_CLOSED_REQUEST)));
  return gone.signal;
}

const clients = new AsyncLocalStorage<AbortSignal | undefined>();

/** Stands around a route under `@Locked` with `leaveWithClient`: the method itself does not see the response of its request. */
@Injectable()
export class ClientOfRequest implements NestInterceptor {
  /** Aborts when the client of the current request is gone. */
  static get gone(): AbortSignal | undefined {
    return clients.getStore();
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    return clients.run(clientGone(context.switchToHttp().getResponse()), () => next.handle());
  }
}
