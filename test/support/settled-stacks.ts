/** Notes the frames of lib below each promise made by `new Promise` that is fulfilled while ioredis reads a socket. */
export function settledStacks(): { start(): void; stop(): readonly string[] } {
  const Native = globalThis.Promise;
  let watching = false;
  let longest: readonly string[] = [];
  class Noted<T> extends Native<T> {
    static override get [Symbol.species](): PromiseConstructor {
      return Native;
    }
    constructor(executor: ConstructorParameters<typeof Promise<T>>[0]) {
      super((resolve, reject) =>
        executor((value) => {
          if (watching) note();
          resolve(value);
        }, reject),
      );
    }
  }
  function note(): void {
    const before = Error.stackTraceLimit;
    Error.stackTraceLimit = 200;
    const stack = new Error().stack!.split('\n');
    Error.stackTraceLimit = before;
    if (!stack.some((line) => line.includes('DataHandler.'))) return;
    const ours = stack.flatMap((line) => {
      const [, name, file] = /at (?:(.+?)(?: \[as \w+\])? \()?\S*?\/(lib\/[^:)]+)/.exec(line) ?? [];
      return file ? [`${name ?? ''} ${file}`] : [];
    });
    if (ours.length > longest.length) longest = ours.reverse();
  }
  globalThis.Promise = Noted as unknown as PromiseConstructor;
  return {
    start: () => void (watching = true),
    stop() {
      globalThis.Promise = Native;
      return longest;
    },
  };
}
