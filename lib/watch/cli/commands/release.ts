import { type LockInspection, plusOf, sightOf } from '../../../engine/inspection/inspection.js';
import type { Context, ExitCode } from '../context.js';
import { heldAs, party } from '../lock-table.js';
import { span } from '../../../engine/options/index.js';
import { UsageError } from '../usage-error.js';
import { looked } from './inspect.js';

/** Takes a lock from its holder, after a question. The exit code is 0 if it was released. */
export async function release(context: Context): Promise<ExitCode> {
  const { terminal, request, client, settings } = context;
  const { json, yes } = request.values;
  if (!yes && !terminal.canAsk) {
    throw new UsageError('There is no terminal on which to ask: add --yes to release the lock.');
  }
  const lock = await looked(context);
  const { key } = lock;
  const say = (released: boolean, text: string): ExitCode => {
    if (json) terminal.printJson({ key, released });
    else terminal.print(text);
    return released ? 0 : 1;
  };
  const hindrance = hindranceTo(lock);
  if (hindrance) return say(false, hindrance);
  if (!yes) {
    if (!(await terminal.confirms(question(lock)))) {
      return say(false, `Lock "${key}" was left as it is.`);
    }
    const now = await looked(context); // a person may have taken long to answer
    const hindrance = hindranceTo(now);
    if (hindrance) return say(false, hindrance);
  }
  const asked = yes ? undefined : sightOf(lock); // `--yes` means any holder
  const released = await client.force(key, settings.call.format, asked);
  if (released === 'another') return say(false, changed(await looked(context)));
  return released ? say(true, `Lock "${key}" was released.`) : say(false, free(key));
}

/** The reason why the lock cannot be released, if there is one. */
function hindranceTo({ key, state }: LockInspection): string | undefined {
  if (state === 'free') return free(key);
  if (state !== 'foreign') return undefined;
  return `What stands at "${key}" is no lock in this format. Give its --dialect or --prefix.`;
}

/** The reason why the person's answer no longer fits the lock's state. */
function changed(now: LockInspection): string {
  const hindrance = hindranceTo(now);
  if (hindrance) return hindrance;
  return now.state === 'held'
    ? `Another caller holds it now${holdersOf(now, ': ')}.`
    : 'Nobody holds it any more: its minimum hold (option "minHold") is not over.';
}

function free(key: string): string {
  return `Lock "${key}" is free.`;
}

function question(lock: LockInspection): string {
  const { key, remaining = 0, waiting } = lock;
  const queue = waiting > 0 ? `; ${waiting} wait for it` : '';
  return `Lock "${key}" is taken (${heldAs(lock)})${holdersOf(lock, ' by ')}, ${span(remaining)} left${queue}. Its holder is told, but for one of another service, and may work on beside the next one. Release it?`;
}

/** Names the holders after a word; an empty text if they are unknown. */
function holdersOf(lock: LockInspection, word: string): string {
  const { holder, holders = [] } = lock;
  const [one = holder] = holders;
  const others = holders.length > 1 ? ` and ${holders.length - 1}${plusOf(lock)} more` : '';
  return one ? `${word}${party(one)}${others}` : '';
}
