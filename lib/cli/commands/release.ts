import type { LockInspection } from '../../services/inspection.js';
import type { Context, ExitCode } from '../context.js';
import { heldAs, party } from '../lock-table.js';
import { span } from '../span.js';
import { UsageError } from '../usage-error.js';
import { looked } from './inspect.js';

/** Takes a lock from its holder, after a question. The code is 0 if it was released. */
export async function release(context: Context): Promise<ExitCode> {
  const { terminal, request, client, settings } = context;
  const { json, yes } = request.values;
  if (!yes && !terminal.canAsk) {
    throw new UsageError('There is no terminal on which to ask: add --yes to release the lock.');
  }
  const lock = await looked(context);
  const { key, state } = lock;
  const say = (released: boolean, text: string): ExitCode => {
    if (json) terminal.printJson({ key, released });
    else terminal.print(text);
    return released ? 0 : 1;
  };
  if (state === 'foreign') {
    const text = `What stands at "${key}" is no lock in this format. Give its --dialect or --prefix.`;
    return say(false, text);
  }
  if (state === 'free') return say(false, `Lock "${key}" is free.`);
  if (!yes && !(await terminal.confirms(question(lock)))) {
    return say(false, `Lock "${key}" was left as it is.`);
  }
  const released = await client.force(key, settings.call.dialect);
  return released ? say(true, `Lock "${key}" was released.`) : say(false, `Lock "${key}" is free.`);
}

function question(lock: LockInspection): string {
  const { key, holder, holders = [], remaining = 0, waiting } = lock;
  const [one = holder] = holders;
  const who = one ? ` by ${party(one)}` : '';
  const others = holders.length > 1 ? ` and ${holders.length - 1} more` : '';
  const queue = waiting > 0 ? `; ${waiting} wait for it` : '';
  return `Lock "${key}" is taken (${heldAs(lock)})${who}${others}, ${span(remaining)} left${queue}. Its holder is told, and may work on for a moment beside the next one. Release it?`;
}
