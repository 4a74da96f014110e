import type { ExecutionContext } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA, FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';

type Class = abstract new (...args: never[]) => unknown;

/** A socket of socket.io, or one that speaks WebSocket alone. */
interface Socket {
  readonly readyState?: unknown;
  emit?(event: string, body: object): unknown;
  send?(message: string): unknown;
}

/** WebSocket's OPEN. */
const OPEN = 1;

/** Tells the client of a gateway, in an `exception` event as Nest does, and in the acknowledgement if it wants one. */
export function answerSocket([client, , ...rest]: readonly unknown[], body: object): void {
  const socket = client as Socket;
  if (typeof socket.readyState === 'number') {
    if (socket.readyState === OPEN)
      socket.send?.(JSON.stringify({ event: 'exception', data: body }));
  } else socket.emit?.('exception', body);
  const acknowledge = rest.find((argument) => typeof argument === 'function');
  (acknowledge as ((body: object) => void) | undefined)?.(body);
}

/** Whether a filter on the gateway or its method catches the exception; gateways have no global filters. */
export function isCaughtAtGateway(context: ExecutionContext, exception: Error): boolean {
  const filters = [context.getHandler(), context.getClass()].flatMap(
    (target) => (Reflect.getMetadata(EXCEPTION_FILTERS_METADATA, target) ?? []) as object[],
  );
  return filters.some((filter) => {
    const type = typeof filter === 'function' ? filter : filter.constructor;
    const caught = (Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, type) ?? []) as Class[];
    return caught.length === 0 || caught.some((each) => exception instanceof each);
  });
}
