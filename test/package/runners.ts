import { BUN, DENO, programOf } from './runtimes.js';

/** Each runs the application's TypeScript; Node what tsc made of it. */
export const RUNTIMES = [
  {
    name: 'Node',
    program: process.execPath,
    args: [],
    main: 'dist/main.js',
    worker: 'dist/worker.js',
  },
  ...(await Promise.all(
    [BUN, DENO].map(async (runtime) => ({
      ...runtime,
      ...(await programOf(runtime)),
      main: 'src/main.ts',
      worker: 'src/worker.ts',
    })),
  )),
];
export type Runner = (typeof RUNTIMES)[number];

/** Why this machine cannot have it. */
export function missingOf(runtime: Runner): string | undefined {
  return 'missing' in runtime ? runtime.missing : undefined;
}

/** Those that this machine has. */
export const here = RUNTIMES.filter((runtime) => missingOf(runtime) === undefined);
