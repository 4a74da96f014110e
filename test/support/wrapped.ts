/** Wraps a method in a function without a name and metadata, as decorators of applications do. */
export const wrapped: MethodDecorator = (_, __, descriptor) => {
  const method = descriptor.value as (...args: unknown[]) => unknown;
  descriptor.value = async function (this: unknown, ...args: unknown[]) {
    return method.apply(this, args);
  } as never;
};
