import { LockOptionsError } from '../errors/index.js';

/** Adds one entry to what decorators say of a method's parameters. */
export function addParameterMetadata(
  metadata: symbol,
  prototype: object,
  method: string | symbol | undefined,
  entry: unknown,
): void {
  if (method === undefined)
    throw new LockOptionsError(
      '@LockKey and @CurrentLease stand on parameters of methods, not of constructors.',
    );
  const known = (Reflect.getOwnMetadata(metadata, prototype.constructor, method) ??
    []) as unknown[];
  Reflect.defineMetadata(metadata, [...known, entry], prototype.constructor, method);
}
