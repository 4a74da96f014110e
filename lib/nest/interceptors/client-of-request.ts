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

/** What logs and metrics of proxies call it; no client hears it. */
const CLIENT_CLOSED_REQUEST = 499;

/** Aborts when the response is over: who waits for a lock then waits for nobody. Undefined where there is no response. */
export function clientGone(response: unknown): AbortSignal | undefined {
  const end = endOfResponse(response);
  if (!end) return undefined;
  const gone = new AbortController();
  const text = 'The client left while its request waited for a lock.';
  void end.then(() => gone.abort(new HttpException(text, CLIENT_CLOSED_REQUEST)));
  return gone.signal;
}

const clients = new AsyncLocalStorage<AbortSignal | undefined>();

/** Around a route under `@Locked` with `leaveWithClient`: a method does not see the response of its request. */
@Injectable()
export class ClientOfRequest implements NestInterceptor {
  /** Of the request whose handler is called: aborts when its client is gone. */
  static get gone(): AbortSignal | undefined {
    return clients.getStore();
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    return clients.run(clientGone(context.switchToHttp().getResponse()), () => next.handle());
  }
}
