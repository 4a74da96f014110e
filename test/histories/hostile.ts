import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_LEASE, LONGEST_BATCH, TOKEN_LEAD } from '../../lib/engine/protocol/constants.js';
import { controlOf } from '../support/control.js';
import type { Place } from './places.js';

/** What somebody knows who may read keys and psubscribe. */
interface Overheard {
  /** What was pushed, by the store. */
  readonly said: string[];
  /** Entries that wait, and the keys of their locks. */
  readonly waiting: { readonly entry: string; readonly lock: string }[];
  /** Who holds something. */
  readonly holders: string[];
  readonly inboxes: string[];
  /** The clock of a server, in µs. */
  readonly now: number;
}

/** In ms. */
const PAUSE = 5;
/** How many messages are remembered. */
const REMEMBERED = 500;

type Draw = () => number;
type Forged = readonly [inbox: string, text: string];

function anyOf<T>(all: readonly T[], draw: Draw): T | undefined {
  return all[Math.floor(draw() * all.length)];
}

/** The inbox of the process that an entry, or a holder id, begins with. */
function inboxOf({ inboxes }: Overheard, holder: string): string {
  const process = holder.slice(0, holder.indexOf('/'));
  return inboxes.find((inbox) => inbox.endsWith(`:${process}`)) ?? process;
}

/** A grant that could have been pushed: of an entry that waits, from now on. Who awaits a condition is told that it was signalled. */
export function likely(known: Overheard, draw: Draw): Forged | undefined {
  const found = anyOf(known.waiting, draw);
  if (!found) return undefined;
  const entry = found.entry.replace(/\/w(?=\d+\/)/, '/c');
  const [, , ttl, kind] = entry.split('/');
  const tokens = Number(/^[a-z](\d+)/.exec(kind!)![1]);
  // Two under one token are told apart by nothing: whoever forges that can do what no token prevents.
  const token = tokens > 0 ? known.now + Math.floor((draw() * TOKEN_LEAD) / 2) : '';
  const lease = Math.min(Number(ttl), FIRST_LEASE);
  const words = `granted ${entry} ${lease} ${known.now} ${token} ${tokens} 0 - ${found.lock}`;
  return [inboxOf(known, entry), words];
}

/** What no script can have said of an entry that waits, in the place of a word. */
const IMPOSSIBLE: readonly (readonly [word: number, said: (known: Overheard) => unknown])[] = [
  [2, () => FIRST_LEASE + 1],
  [2, () => 86_400_000],
  [2, () => 'Infinity'],
  [2, () => 'NaN'],
  [2, () => -1],
  [3, ({ now }) => now + 60_000_000],
  [3, ({ now }) => now - 60_000_000],
  [3, () => 'x'],
  [4, ({ now }) => now + 2 * TOKEN_LEAD],
  [4, () => Number.MAX_SAFE_INTEGER],
  [4, () => '1e400'],
  [4, () => -1],
  [4, () => 0],
  [4, ({ now }) => now + 0.5],
  [5, () => 0],
  [5, () => 100_000],
  [5, () => 0.5],
  [6, () => LONGEST_BATCH + 1],
  [6, () => -1],
  [6, () => 0.5],
  [6, () => 'many'],
];

/** Each makes a message that changes nothing. */
const HARMLESS: readonly ((known: Overheard, draw: Draw) => Forged | undefined)[] = [
  (known, draw) => {
    const forged = likely(known, draw);
    const words = forged?.[1].split(' ');
    if (!words || words[4] === '') return undefined;
    const [at, said] = anyOf(IMPOSSIBLE, draw)!;
    words[at] = String(said(known));
    return [forged![0], words.join(' ')];
  },
  // To another process.
  (known, draw) => {
    const forged = likely(known, draw);
    const inbox = anyOf(known.inboxes, draw);
    return forged && inbox && inbox !== forged[0] ? [inbox, forged[1]] : undefined;
  },
  // For somebody who never asked.
  (known, draw) => {
    const forged = likely(known, draw);
    const nobody = 'A'.repeat(22);
    return forged && [forged[0], forged[1].replace(/\/[\w-]{22}/, `/${nobody}`)];
  },
  // Said again, to whom it was said or to another.
  ({ said, inboxes }, draw) => {
    const [again, inbox] = [anyOf(said, draw), anyOf(inboxes, draw)];
    return again !== undefined && inbox !== undefined ? [inbox, again] : undefined;
  },
  (known, draw) => {
    const holder = anyOf(known.holders, draw);
    return holder ? [inboxOf(known, holder), `forced ${holder}`] : undefined;
  },
  ({ waiting, inboxes }, draw) => {
    const [found, inbox] = [anyOf(waiting, draw), anyOf(inboxes, draw)];
    const rest = anyOf([0, -1, 'NaN', 'Infinity', 1e300, 50], draw);
    return found && inbox !== undefined ? [inbox, `kept ${rest} ${found.lock}`] : undefined;
  },
  ({ inboxes }, draw) => {
    const inbox = anyOf(inboxes, draw);
    const text = anyOf(
      [
        '',
        ' ',
        'granted',
        'granted  ',
        'forced __proto__ constructor',
        'kept',
        `hello ${Math.floor(draw() * 20)}`,
        'x'.repeat(100_000),
        `granted ${'/'.repeat(1_000)}`,
        '\u0000\u{10FFFF}\n',
      ],
      draw,
    );
    return inbox === undefined ? undefined : [inbox, text!];
  },
];

export function harmless(known: Overheard, draw: Draw): Forged | undefined {
  return anyOf(HARMLESS, draw)!(known, draw);
}

/** Another user of the same Redis, who reads the keys of locks, hears what is pushed, and publishes to the inboxes, for so many ms. */
export async function publishes(
  forge: typeof harmless,
  { place, random, ms }: { place: Place; random: Draw; ms: number },
): Promise<void> {
  const said: string[] = [];
  const own = new Set<string>();
  const spies = place.servers.map(({ url }) => controlOf(url));
  const end = performance.now() + ms;
  try {
    for (const spy of spies) {
      spy.on('pmessage', (_pattern: string, _channel: string, text: string) => {
        if (own.has(text)) return;
        if (said.length < REMEMBERED) said.push(text);
        else said[Math.floor(random() * REMEMBERED)] = text;
      });
      await spy.psubscribe('lock:inbox:*');
    }
    while (performance.now() < end) {
      for (const at of await place.primaries()) {
        const known = { said, ...(await lookedUp(place, at)) };
        for (let count = 0; count < 10; count += 1) {
          const forged = forge(known, random);
          if (!forged) continue;
          if (!said.includes(forged[1])) own.add(forged[1]);
          await place.controls[at]!.publish(...forged);
        }
      }
      await sleep(PAUSE);
    }
  } finally {
    for (const spy of spies) spy.disconnect();
  }
}

async function lookedUp(place: Place, at: number): Promise<Omit<Overheard, 'said'>> {
  const control = place.controls[at]!;
  const names = await control.keys('*lock:*');
  const [waiting, holders]: [Overheard['waiting'], string[]] = [[], []];
  for (const name of names) {
    const lock = /^\{(.*)\}:queue$/.exec(name)?.[1];
    if (lock !== undefined) {
      const entries = await control.zrange(name, 0, '20');
      for (const entry of entries) waiting.push({ entry, lock });
    } else if (name.endsWith(':holders')) {
      holders.push(...(await control.zrange(name, 0, '20')));
    } else if (name.startsWith('lock:') && !name.includes('{')) {
      const holder = await control.get(name);
      if (holder) holders.push(holder.split('/').slice(0, 2).join('/'));
    }
  }
  const channels = await Promise.all(
    place.controls.map((each) => each.pubsub('CHANNELS', 'lock:inbox:*')),
  );
  const [seconds, micros] = await control.time();
  return {
    waiting,
    holders: holders.filter((holder) => holder.includes('/')),
    inboxes: [...new Set(channels.flat() as string[])],
    now: Number(seconds) * 1_000_000 + Number(micros),
  };
}
