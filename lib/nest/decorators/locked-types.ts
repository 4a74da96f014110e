import type { Observable } from 'rxjs';

/**
 * The result of a method under a lock: it ends later, for a synchronous method cannot wait for a lock. A method that makes a
 * Node stream returns a Promise of it.
 */
export type Lockable =
  | PromiseLike<unknown>
  | Observable<unknown>
  | (AsyncIterable<unknown> & { readonly pipe?: undefined });

/** The result of a method whose calls may be skipped: nothing. */
export type Skippable = PromiseLike<void | undefined>;

/** The keys of `@Locked`: a template, several, or a function of the method's arguments. */
export type LockedKey<Args extends readonly unknown[]> =
  string | readonly string[] | ((...args: Args) => string | readonly string[]);

/**
 * A decorator for methods that return `Result`; the key function takes `Args`, and `onBusy` returns `Busy`. The first
 * signature, which nobody can call, lets it stand for a `MethodDecorator`, as in `applyDecorators`: only beside it does the
 * compiler take `Method` for `any`.
 */
export interface LockedDecorator<Args extends readonly unknown[], Result, Busy = unknown> {
  (target: never, method: never, descriptor: never): void;
  <Method extends (...args: never[]) => Result>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<Method> &
      TakesArgs<Method, Args> &
      (ReturnType<Method> extends PromiseLike<infer Value>
        ? BusyFits<Awaited<Busy>, Value> extends true
          ? unknown
          : {
              readonly 'the method does not return what onBusy does (undefined for "skip")': never;
            }
        : unknown),
  ): void;
}

/** Checks that the key function accepts the arguments of `Method`; a method of type `any` always fits. */
export type TakesArgs<Method, Args extends readonly unknown[]> = Method extends (
  ...args: infer Given
) => unknown
  ? Given extends Args
    ? unknown
    : Required<Given> extends [...Args, ...unknown[]]
      ? unknown
      : { readonly 'the key function takes other arguments than the method': never }
  : unknown;

/**
 * Checks that the result of `onBusy` fits the method's. Only kinds are compared (a string is no number): literals are widened
 * by then. A function without a result may be one that always throws.
 */
export type BusyFits<Busy, Value> = [Busy] extends [Value]
  ? true
  : [void] extends [Busy]
    ? true
    : [Value] extends [void]
      ? true
      : [ResultKind<Busy>] extends [ResultKind<Value>]
        ? true
        : false;

export type ResultKind<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number'
    : Value extends boolean
      ? 'boolean'
      : Value extends bigint
        ? 'bigint'
        : Value extends symbol
          ? 'symbol'
          : Value extends null
            ? 'null'
            : Value extends undefined | void
              ? 'undefined'
              : 'object';
