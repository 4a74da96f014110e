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

/** A decorator for methods that return `Result` and whose arguments the key function takes. */
export type LockedDecorator<Args extends readonly unknown[], Result> = <
  Method extends (...args: never[]) => Result,
>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> &
    (Parameters<Method> extends Args
      ? unknown
      : Required<Parameters<Method>> extends [...Args, ...unknown[]]
        ? unknown
        : { readonly 'the key function takes other arguments than the method': never }),
) => void;
