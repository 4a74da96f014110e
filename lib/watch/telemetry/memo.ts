/** Data that one subscriber attaches to a trace. The data live as long as the trace, and no other subscriber sees them. */
export class Memo<Trace extends object, Value> {
  readonly #key = Symbol('nest-redis-lock:memo');

  set(trace: Trace, value: Value): void {
    (trace as Record<symbol, Value>)[this.#key] = value;
  }

  get(trace: Trace): Value | undefined {
    return (trace as Record<symbol, Value | undefined>)[this.#key];
  }
}
