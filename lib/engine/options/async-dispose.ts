/** `Symbol.asyncDispose`; the realm of a test in Jest 29 has none, where compilers use this one for `await using`. */
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol as Partial<SymbolConstructor>).asyncDispose ??
  (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);
