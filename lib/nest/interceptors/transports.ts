import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA, FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { ServerResponse } from 'node:http';
import { listed } from '../services/metadata.js';
import type { ErrorResponse } from './error-response.js';

/** The metadata key of event handlers in `@nestjs/microservices`, on which this package does not depend. */
const HANDLER_TYPE = 'microservices:handler_type';
const EVENT = 2;

const TRANSPORTS = ['http', 'graphql', 'rpc', 'ws'] as const;

/**
 * Returns the transport on which a client waits for an answer. Undefined if no client does: Nest reports `http` also for calls
 * without a request, such as event listeners and commands of a bot.
 */
export function transportOf(
  host: ArgumentsHost,
  adapter: AbstractHttpAdapter | undefined,
): (typeof TRANSPORTS)[number] | undefined {
  const type = TRANSPORTS.find((each) => each === host.getType<string>());
  if (type !== 'http') return type;
  const response = host.switchToHttp().getResponse<unknown>();
  if (!adapter || typeof response !== 'object' || response === null) return undefined;
  return 'setHeader' in response || 'header' in response ? type : undefined;
}

/** Node's own response. Middlewares on Fastify have it too, where the adapter of Nest 11 expects Fastify's wrapper. */
function isNodes(response: unknown): response is ServerResponse {
  return typeof (response as Partial<ServerResponse>).setHeader === 'function';
}

/** Ends an HTTP answer that has begun, and so can say no more. Returns false for one that has not. */
export function endBegun(adapter: AbstractHttpAdapter, response: unknown): boolean {
  if (!isBegun(adapter, response)) return false;
  if (isNodes(response)) response.end();
  else adapter.end(response);
  return true;
}

function isBegun(adapter: AbstractHttpAdapter, response: unknown): boolean {
  return isNodes(response) ? response.headersSent : Boolean(adapter.isHeadersSent(response));
}

/** Sets `Retry-After` on an HTTP answer that has not begun. */
export function setRetryAfter(
  adapter: AbstractHttpAdapter,
  response: unknown,
  { retryAfter }: ErrorResponse,
): void {
  if (retryAfter === undefined || isBegun(adapter, response)) return;
  if (isNodes(response)) response.setHeader('Retry-After', retryAfter);
  else adapter.setHeader(response, 'Retry-After', String(retryAfter));
}

type Class = abstract new (...args: never[]) => unknown;

/** A socket of socket.io, or a plain WebSocket, which alone has `readyState`. */
interface Socket {
  readonly readyState?: unknown;
  emit?(event: string, body: object): unknown;
  send?(message: string): unknown;
}

/** The value of `WebSocket.OPEN`. */
const OPEN = 1;

/** Answers the client of a gateway by an `exception` event, as Nest does, and by the acknowledgement if the client wants one. */
export function answerSocket([client, , ...rest]: readonly unknown[], body: object): void {
  const socket = client as Socket;
  if (typeof socket.readyState === 'number') {
    if (socket.readyState === OPEN)
      socket.send?.(JSON.stringify({ event: 'exception', data: body }));
  } else socket.emit?.('exception', body);
  const acknowledge = rest.find((argument) => typeof argument === 'function');
  (acknowledge as ((body: object) => void) | undefined)?.(body);
}

/** True if a filter on the gateway or its method catches the exception; gateways have no global filters. */
export function isCaughtAtGateway(context: ExecutionContext, exception: Error): boolean {
  const filters = [context.getHandler(), context.getClass()].flatMap((target) =>
    listed<object>(EXCEPTION_FILTERS_METADATA, target),
  );
  return filters.some((filter) => {
    const type = typeof filter === 'function' ? filter : filter.constructor;
    const caught = listed<Class>(FILTER_CATCH_EXCEPTIONS, type);
    return caught.length === 0 || caught.some((each) => exception instanceof each);
  });
}

/** True for a handler of events, whose sender gets no answer. */
export function isEventHandler(handler: object): boolean {
  return Reflect.getMetadata(HANDLER_TYPE, handler) === EVENT;
}
