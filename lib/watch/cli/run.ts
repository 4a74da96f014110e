import { createRequire } from 'node:module';
import { type CommandName, parse, type Request } from './arguments.js';
import { inspect } from './commands/inspect.js';
import { list } from './commands/list.js';
import { release } from './commands/release.js';
import { scripts } from './commands/scripts.js';
import { watch } from './commands/watch.js';
import { type Context, contextOf, type ExitCode } from './context.js';
import { doctor } from './doctor/doctor.js';
import { HELP } from './help.js';
import type { Terminal } from './terminal.js';
import { isUsage, toldOf } from './wording.js';

const COMMANDS: Record<CommandName, (context: Context) => Promise<ExitCode>> = {
  list,
  inspect,
  watch,
  release,
  doctor,
  scripts,
};

/** Runs a command line and resolves to the exit code. Never rejects. */
export async function run(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<ExitCode> {
  try {
    return await answer(parse(words), env, terminal);
  } catch (error) {
    if (terminal.closed.aborted) return 0;
    const told = toldOf(error) ?? {
      code: 'BUG',
      message: `This is a mistake of nest-redis-lock: please report it. ${String((error as Error)?.stack)}`,
    };
    if (words.includes('--json')) terminal.printJson({ error: told });
    else terminal.complain(told.message);
    return isUsage(told) ? 2 : 3;
  }
}

async function answer(
  request: Request,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<ExitCode> {
  const { command } = request;
  if (command === 'help') {
    for (const line of HELP.split('\n')) terminal.print(line);
    return 0;
  }
  if (command === 'version') {
    terminal.print(versionOf());
    return 0;
  }
  const context = contextOf(request, env, terminal);
  try {
    return await COMMANDS[command](context);
  } finally {
    await context.client.close();
  }
}

function versionOf(): string {
  const require = createRequire(import.meta.url);
  return (require('nest-redis-lock/package.json') as { version: string }).version;
}
