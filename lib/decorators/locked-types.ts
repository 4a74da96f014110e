import type { Observable } from 'rxjs';
import type { LockedOptions } from '../options/index.js';

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

type AnyMethod<Result> = (...args: never[]) => Result;

/** A decorator for methods that return `Result` and whose arguments `Args` can be read from. */
export type LockedDecorator<Args extends readonly unknown[], Result> = <
  Method extends AnyMethod<Result>,
>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & Fits<Args, Method>,
) => void;

/** The key function takes what the method is called with. */
type Fits<Args extends readonly unknown[], Method extends (...args: never[]) => unknown> =
  Parameters<Method> extends Args
    ? unknown
    : Required<Parameters<Method>> extends [...Args, ...unknown[]]
      ? unknown
      : { readonly 'the key function takes other arguments than the method': never };

/** Options with `onBusy: 'skip'`: only for methods that return nothing. */
export type SkipOptions = LockedOptions & { readonly onBusy: 'skip' };

/** Any other options. */
export type PlainOptions = LockedOptions & {
  readonly onBusy?: Exclude<LockedOptions['onBusy'], 'skip'>;
};
