import * as nest from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { AnswerRows } from './answer-rows.js';

/** Resolves when a returned stream, or the stream of a StreamableFile, has closed. Undefined for a plain value. */
export function endOfStream(result: unknown): Promise<void> | undefined {
  return closed(streamOf(result));
}

/** Whether Nest sends the web `Response` or async iterable that a route returns. It does since version 12; earlier versions never read them. */
export const SENDS_STREAMS = 'StandardSchemaValidationPipe' in nest;

/** Resolves when the body of a route's web `Response` was read or abandoned. (A caller of `fetch` may never read a body.) */
export function endOfBody(response: Response): Promise<void> | undefined {
  return SENDS_STREAMS ? closed(response.body ?? undefined) : undefined;
}

/** When `response` is over, destroys a stream meant for it that nobody began to read, since another answer was sent. */
export function discardUnsent(result: unknown, response: unknown): void {
  const stream = sentStream(result);
  if (stream === undefined) return;
  const unread = (): boolean => (stream as Partial<Readable>).readableFlowing == null;
  void endOfResponse(response)?.then(() => unread() && discard(result));
}

/** Destroys a stream that nobody will read: it would keep its source open. */
export function discard(result: unknown): void {
  const stream = sentStream(result);
  (stream as Partial<Readable> | undefined)?.destroy?.();
  // A locked stream rejects `cancel`: its reader cancels it. What only looks like a stream may throw, or return nothing.
  const cancel = async (): Promise<void> => (stream as Partial<ReadableStream>).cancel?.();
  if (stream) cancel().catch(() => {});
}

export function isWebResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

function sentStream(result: unknown): unknown {
  return isWebResponse(result) ? (result.body ?? undefined) : streamOf(result);
}

/** Returns the Node or web stream of a method's result, if the result is or has one. */
export function streamOf(result: unknown): object | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if (isStreamableFile(result)) return result.getStream();
  const isNode = 'pipe' in result && typeof result.pipe === 'function' && 'once' in result;
  return isNode || 'getReader' in result || result instanceof AnswerRows ? result : undefined;
}

/** Recognises a StreamableFile of any copy of Nest. Another object's `getStream` may open a new stream at each call. */
function isStreamableFile(result: object): result is nest.StreamableFile {
  if (!('getStream' in result && 'getHeaders' in result)) return false;
  return typeof result.getStream === 'function' && typeof result.getHeaders === 'function';
}

/** Resolves when a response of Express (Node's own) or Fastify (a wrapper) was sent or broken off. Undefined for anything else. */
export function endOfResponse(response: unknown): Promise<void> | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const own = 'raw' in response ? (response.raw as object) : response;
  return isOverHttp2(own) ? Promise.resolve() : closed(own);
}

/** Whether this is a response of HTTP/2 that has closed: `finished` would never tell. */
function isOverHttp2(response: { readonly stream?: { readonly destroyed?: boolean } }): boolean {
  return response.stream?.destroyed === true;
}

/** The end of each stream, shared by all locks around it: Node.js warns of eleven listeners. */
const ends = new WeakMap<object, Promise<void>>();

/** Resolves when a stream has closed. Undefined for other objects, whose end would never be told. */
function closed(stream: object | undefined): Promise<void> | undefined {
  if (stream === undefined) return undefined;
  if (stream instanceof AnswerRows) return stream.end;
  const known = ends.get(stream);
  if (known) return known;
  let close!: () => void;
  const end = new Promise<void>((resolve) => (close = resolve));
  try {
    if (stream instanceof ServerResponse) onClose(stream, close);
    else finished(stream as Readable, () => close());
  } catch {
    return undefined;
  }
  ends.set(stream, end);
  return end;
}

/**
 * Calls `close` when a response ends, by one listener: `finished` adds two, eleven in all where Fastify sends rows. Node.js
 * never closes a pipelined response, which has no socket yet, if the connection ends first; so the connection is watched too.
 */
function onClose(response: ServerResponse, close: () => void): void {
  if (response.closed || response.writableFinished) return close();
  response.once('close', close);
  if (response.socket === null) void closed(response.req.socket)?.then(close);
}

/** The value of Nest's `RouteParamtypes.RESPONSE`. */
const RESPONSE = '1';

/** The position of `@Res()` in a route that answers by itself; undefined for any other method, `passthrough` included. */
export function responseParameter(prototype: object, method: string | symbol): number | undefined {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, method) ??
    {}) as Record<string, { index: number; data?: { passthrough?: boolean } }>;
  const [, response] =
    Object.entries(parameters).find(([name]) => name.split(':')[0] === RESPONSE) ?? [];
  return response?.data?.passthrough ? undefined : response?.index;
}
