declare module 'cli-progress' {
  interface Bar {
    start(total: number, done: number): void;
    increment(): void;
    stop(): void;
  }
  interface Options {
    readonly format: string;
    readonly noTTYOutput: boolean;
  }
  const cliProgress: {
    readonly SingleBar: new (options: Options, preset: unknown) => Bar;
    readonly Presets: { readonly shades_classic: unknown };
  };
  export default cliProgress;
}
