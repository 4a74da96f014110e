type Method = (this: unknown, ...args: unknown[]) => unknown;

const originals = new WeakMap<Method, Method>();

/**
 * Puts `wrapper` in the place of `original` so that nobody notices: what Nest, Swagger and others
 * wrote on the function, its name and its length go over.
 */
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

/** The method that was written down, beneath every wrapper of ours. */
export function unwrapped<Wrapped>(method: Wrapped): Wrapped {
  const original = originals.get(method as Method) as Wrapped | undefined;
  return original === undefined ? method : unwrapped(original);
}
