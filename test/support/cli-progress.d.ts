declare module 'cli-progress' {
  interface Bar {
    start(total: number, done: number): void;
    increment(): void;
    stop(): void;
  }
  interface Options {
    readonly format: string;
    readonly noTTYOutput: boolean;
    /** How often it is printed where there is no terminal, in ms. */
    readonly notTTYSchedule: number;
  }
  const cliProgress: {
    readonly SingleBar: new (options: Options, preset: unknown) => Bar;
    readonly Presets: { readonly shades_classic: unknown };
  };
  export default cliProgress;
}
