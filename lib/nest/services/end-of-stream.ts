import * as nest from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { AnswerRows } from './answer-rows.js';

/** When what a method returned ends by itself: a stream, or a StreamableFile around one; undefined for a plain value. */
export function endOfStream(result: unknown): Promise<void> | undefined {
  return closed(streamOf(result));
}

/** Whether Nest sends a web `Response` and rows that a route returns, as from version 12 on: before, nobody reads them. */
export const SENDS_STREAMS = 'StandardSchemaValidationPipe' in nest;

/** When the body of a web `Response` has been read or is left: a route sends it, while a caller of `fetch` may never read it. */
export function endOfBody(response: Response): Promise<void> | undefined {
  return SENDS_STREAMS ? closed(response.body ?? undefined) : undefined;
}

/** Once `response` is over, discards a stream for it that nobody has begun to read: another answer was sent in its place. */
export function discardUnsent(result: unknown, response: unknown): void {
  const stream = sentStream(result);
  if (stream === undefined) return;
  const unread = (): boolean => (stream as Partial<Readable>).readableFlowing == null;
  void endOfResponse(response)?.then(() => unread() && discard(result));
}

/** Destroys a stream that nobody is going to read: it would keep what it reads from. */
export function discard(result: unknown): void {
  const stream = sentStream(result);
  (stream as Partial<Readable> | undefined)?.destroy?.();
  // Who reads it already cancels it.
  (stream as Partial<ReadableStream> | undefined)?.cancel?.().catch(() => {});
}

export function isWebResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

function sentStream(result: unknown): unknown {
  return isWebResponse(result) ? (result.body ?? undefined) : streamOf(result);
}

/** The stream of Node or of the web that a method returned. */
export function streamOf(result: unknown): object | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if (isStreamableFile(result)) return result.getStream();
  const isNode = 'pipe' in result && typeof result.pipe === 'function' && 'once' in result;
  return isNode || 'getReader' in result || result instanceof AnswerRows ? result : undefined;
}

/** Of any copy of Nest. What else has a `getStream` may open another stream by each call. */
function isStreamableFile(result: object): result is nest.StreamableFile {
  if (!('getStream' in result && 'getHeaders' in result)) return false;
  return typeof result.getStream === 'function' && typeof result.getHeaders === 'function';
}

/** When a response of Express (Node's own) or Fastify (which wraps it) has been sent or broken off; undefined for anything else. */
export function endOfResponse(response: unknown): Promise<void> | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  return closed('raw' in response ? (response.raw as object) : response);
}

/** One for all locks around a stream: Node.js warns of eleven listeners. */
const ends = new WeakMap<object, Promise<void>>();

/** Undefined for what is no stream: its end would never be told. */
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
 * `finished` would add two listeners: eleven in all where Fastify sends rows. Node.js never closes a pipelined response,
 * which has no socket yet, if the connection ends before its turn.
 */
function onClose(response: ServerResponse, close: () => void): void {
  if (response.closed || response.writableFinished) return close();
  response.once('close', close);
  if (response.socket === null) void closed(response.req.socket)?.then(close);
}

/** RouteParamtypes.RESPONSE of Nest. */
const RESPONSE = '1';

/** The position of `@Res()` in a route that answers by itself; undefined for any other method, `passthrough` included. */
export function responseParameter(prototype: object, method: string | symbol): number | undefined {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, method) ??
    {}) as Record<string, { index: number; data?: { passthrough?: boolean } }>;
  const [, response] =
    Object.entries(parameters).find(([name]) => name.split(':')[0] === RESPONSE) ?? [];
  return response?.data?.passthrough ? undefined : response?.index;
}
