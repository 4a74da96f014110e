import type { Observable } from 'rxjs';

/**
 * What a method under a lock may return: something that ends later. A synchronous method cannot wait
 * for a lock; nor can one that returns a Node stream at once: it returns a Promise of it.
 */
export type Lockable =
  | PromiseLike<unknown>
  | Observable<unknown>
  | (AsyncIterable<unknown> & { readonly pipe?: undefined });

/** What a method returns that may be skipped: nothing. */
export type Skippable = PromiseLike<void | undefined>;

/** The keys of `@Locked`: a template, several, or a function of the method's arguments. */
export type LockedKey<Args extends readonly unknown[]> =
  string | readonly string[] | ((...args: Args) => string | readonly string[]);

/**
 * A decorator for methods that return `Result`, whose arguments the key function takes, and which may return what a busy
 * call does. A function with two signatures may stand for a `MethodDecorator`, as in `applyDecorators`: only then does the
 * compiler take `Method` for `any`. Nobody can call the first one.
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

/** Whether the key function can have the arguments of `Method`; of `any` it can. */
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
 * Whether a busy call's result fits the method's, as far as it can be said without its literals, which are wide by
 * then: a text is no number. A function without a result may be one that always throws.
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
