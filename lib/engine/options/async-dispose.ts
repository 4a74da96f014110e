/** `Symbol.asyncDispose`, or the symbol that compilers use for `await using` where the realm has none, as in Jest 29. */
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol as Partial<SymbolConstructor>).asyncDispose ??
  (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);
