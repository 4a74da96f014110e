import { LockOptionsError } from '../../engine/errors/index.js';

/** A method as a wrapper sees it. */
export type Method = (this: object, ...args: unknown[]) => unknown;

/**
 * Returns the method on which a decorator stands.
 * @throws LockOptionsError if the decorator stands on anything but a method of an object.
 */
export function decoratedMethod(
  decorator: string,
  target: unknown,
  method: unknown,
  descriptor: PropertyDescriptor | number | undefined,
): Method {
  const methodName = nameOf(target as object, method);
  if (typeof target === 'function' && typeof descriptor === 'object' && !('kind' in descriptor)) {
    throw new LockOptionsError(
      `${decorator} stands on the static method ${methodName}: only methods of objects that Nest makes can be locked.`,
    );
  }
  const place = method === undefined && typeof target === 'function' ? target.name : methodName;
  if (typeof descriptor === 'number') {
    throw new LockOptionsError(
      `${decorator} stands on a parameter of ${place}: it stands on methods. On parameters stand @LockKey and @CurrentLease.`,
    );
  }
  if (typeof target === 'function' && method === undefined) {
    throw new LockOptionsError(
      `${decorator} stands on the class ${place}: it stands on methods. For all handlers of a controller there is @LockedRequest.`,
    );
  }
  if (typeof descriptor?.value !== 'function' || typeof target !== 'object') {
    throw new LockOptionsError(
      `${decorator} stands on ${methodName}, which is not a method. (It needs "experimentalDecorators", as Nest does; it is no standard decorator.)`,
    );
  }
  return descriptor.value as Method;
}

/** Runs a check of a decorator's options, and puts the decorated method in front of its error message. */
export function checkedFor<Checked>(owner: string, check: () => Checked): Checked {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof LockOptionsError)) throw error;
    throw new LockOptionsError(`${owner}: ${error.message}`, { cause: error });
  }
}

/** The name of a method in messages: `Accounts.withdraw`. */
export function nameOf(target: object, method: unknown): string {
  const owner = typeof target === 'function' ? target.name : target?.constructor?.name;
  const name =
    typeof method === 'object' && method !== null && 'name' in method ? method.name : method;
  return `${owner ?? ''}.${String(name)}`;
}

const originals = new WeakMap<Method, Method>();

/** Makes `wrapper` look like `original`: copies its name, its length, and the metadata that Nest, Swagger and others wrote on it. */
export function wrapMethod(original: Method, wrapper: Method): Method {
  originals.set(wrapper, original);
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), wrapper);
  }
  for (const property of ['name', 'length'] as const) {
    Object.defineProperty(wrapper, property, { value: original[property], configurable: true });
  }
  return wrapper;
}

/** Returns the author's method, beneath every wrapper of ours. */
export function unwrapped<Wrapped>(method: Wrapped): Wrapped {
  const original = originals.get(method as Method) as Wrapped | undefined;
  return original === undefined ? method : unwrapped(original);
}
