import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace as api,
  type Tracer,
} from '@opentelemetry/api';
import type { Around } from '../../engine/events/around.js';
import { lockChannels } from '../../engine/events/lock-channels.js';
import type { AcquireTrace, HoldTrace } from '../../engine/events/lock-event.js';
import { errorType } from '../telemetry/error-type.js';
import { type Listener, listen } from '../telemetry/listen.js';
import { Memo } from '../telemetry/memo.js';
import { attributesOf } from './attributes.js';

/** A span under way. */
interface Begun {
  readonly span: Span;
  /** The start by the wall clock, in ms. */
  readonly from: number;
  /** The parent: the context of the call for the lock. */
  readonly parent: Context;
}

/** A span for each call for a lock, and one for each lock that this process holds. */
export class LockSpans {
  readonly #calls = new Memo<AcquireTrace, Begun>();
  readonly #holds = new Memo<HoldTrace, Begun>();

  constructor(
    /** Called for each span: the application may set its provider later. */
    private readonly tracer: () => Tracer,
    /** Whether spans have the key and the token. */
    private readonly keys: boolean,
  ) {}

  /** Makes spans until the returned function is called. `failed` gets the first error of the tracer. */
  make(failed: (error: unknown) => void): () => void {
    const { acquire, hold } = lockChannels;
    const listeners: Listener[] = [
      [acquire.start, (trace: AcquireTrace) => this.#called(trace)],
      [acquire.asyncEnd, (trace: AcquireTrace) => this.#answered(trace)],
      [hold.start, (trace: HoldTrace) => this.#granted(trace)],
      [hold.asyncEnd, (trace: HoldTrace) => this.#ended(trace)],
    ];
    return listen(listeners, failed);
  }

  #called(trace: AcquireTrace): void {
    const attributes = attributesOf(trace);
    if (this.keys) attributes['lock.key'] = trace.key;
    this.#calls.set(trace, this.#begin('lock.acquire', attributes, context.active()));
  }

  #answered(trace: AcquireTrace): void {
    const call = this.#calls.get(trace);
    if (!call) return; // the call began before the instrumentation
    const { span } = call;
    if (!span.isRecording()) return;
    if (trace.queued) span.setAttribute('lock.queued', true);
    const error = errorType(trace);
    if (error !== undefined) fail(span, error, 'error' in trace && trace.outcome !== 'aborted');
    end(call, trace.waited!);
  }

  #granted(trace: HoldTrace): void {
    const parent = (trace.acquire && this.#calls.get(trace.acquire))?.parent ?? context.active();
    const attributes = attributesOf(trace);
    if (this.keys) {
      attributes['lock.key'] = trace.key;
      if (trace.token !== undefined) attributes['lock.token'] = trace.token;
    }
    const before = trace.handedFrom && this.#holds.get(trace.handedFrom);
    const hold = this.#begin('lock.hold', attributes, parent, before?.span);
    this.#holds.set(trace, hold);
    if (hold.span.isRecording()) trace.wrap(aroundBody(hold));
  }

  #ended(trace: HoldTrace): void {
    const hold = this.#holds.get(trace);
    if (!hold) return;
    const { span } = hold;
    if (!span.isRecording()) return;
    span.setAttribute('lock.hold.end', trace.end!);
    if (trace.reason !== undefined) fail(span, trace.reason, true);
    end(hold, trace.held!);
  }

  #begin(name: string, attributes: Attributes, parent: Context, linked?: Span): Begun {
    const from = Date.now();
    const options: SpanOptions = { attributes, startTime: from };
    if (linked) options.links = [{ context: linked.spanContext() }];
    return { span: this.tracer().startSpan(name, options, parent), from, parent };
  }
}

/**
 * Makes the span of a hold active while a body runs under it, so that the body's spans become its children. A body that runs
 * inside another span than its call for the lock keeps that span.
 */
function aroundBody({ span, parent }: Begun): Around {
  return (body) => {
    const active = context.active();
    if (api.getSpan(active) !== api.getSpan(parent)) return body();
    return context.with(api.setSpan(active, span), body);
  };
}

function fail(span: Span, error: string, rejects: boolean): void {
  span.setAttribute('error.type', error);
  if (rejects) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Ends the span `milliseconds` after its begin, exactly as the metric counts. */
function end({ span, from }: Begun, milliseconds: number): void {
  const second = Math.floor(from / 1_000);
  const nanoseconds = (from - second * 1_000) * 1e6 + Math.round(milliseconds * 1e6);
  const more = Math.floor(nanoseconds / 1e9); // `%` is slow for such large numbers
  span.end([second + more, nanoseconds - more * 1e9]);
}
