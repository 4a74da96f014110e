/** What one subscriber remembers of a trace while the trace lasts. It stands on the trace itself, where no other subscriber meets it. */
export class Memo<Trace extends object, Value> {
  readonly #key = Symbol('nest-redis-lock:memo');

  set(trace: Trace, value: Value): void {
    (trace as Record<symbol, Value>)[this.#key] = value;
  }

  get(trace: Trace): Value | undefined {
    return (trace as Record<symbol, Value | undefined>)[this.#key];
  }
}
