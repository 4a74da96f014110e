import { nativeScripts } from '../../../engine/locks/native-scripts.js';
import type { Context, ExitCode } from '../context.js';
import { UsageError } from '../usage-error.js';

/** Prints the names of the scripts of native locks, or one of them as Redis gets it. It asks no Redis. */
export async function scripts({ request, terminal }: Context): Promise<ExitCode> {
  const { operand, values } = request;
  const all = new Map(nativeScripts.map(({ name, source }) => [name!, source]));
  const names = operand === '*' ? [...all.keys()] : [operand];
  const found = names.map((name) => ({ name, text: all.get(name) }));
  if (found.some(({ text }) => text === undefined)) {
    throw new UsageError('There is no such script. "nest-redis-lock scripts" shows the names.');
  }
  const lines = operand === '*' ? names : found[0]!.text!.split('\n');
  if (values.json) terminal.printJson({ scripts: found });
  else for (const line of lines) terminal.print(line);
  return 0;
}
