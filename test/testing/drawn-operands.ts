import { createHash } from 'node:crypto';
import { exclusive, shares } from '../../lib/engine/locks/native-scripts.js';
import { AWAITING, PERMITS, SHARED } from '../../lib/engine/protocol/constants.js';
import type { LuaScript, Operand } from '../../lib/engine/redis/index.js';

/** The processes whose inboxes are heard. */
export const HEARING = ['a.1.x', 'b.1.x'];
const HOLDERS = ['a.1.x/1', 'a.1.x/2', 'b.1.x/3', 'c.1.x/4'];
const LOCKS = ['k', 'l'];

/** Draws what scripts are passed, so that they meet. */
export class Draw {
  constructor(
    private readonly chance: () => number,
    /** The time of the test in ms. */
    private readonly now: () => number,
  ) {}

  one<T>(...options: readonly T[]): T {
    return options[Math.floor(this.chance() * options.length)]!;
  }

  /** What stands behind a script in EVAL. */
  operands(script: LuaScript): Operand[] {
    const special = SPECIAL.get(script);
    if (special) return special(this);
    const lock = this.one(...LOCKS);
    const keys = Object.fromEntries(
      script.keys.map((name) => [name, name === 'lock' ? lock : keyOf(lock, name)]),
    );
    const args = Object.fromEntries(script.args.map((name) => [name, this.operand(name)]));
    if (args['kind'] === 's') Object.assign(args, { permits: 0, count: undefined });
    if (args['kind'] === 'p') args['permits'] = Math.max(2, Number(args['count'] ?? 1));
    return [script.keys.length, ...script.keyList(keys).keys, ...script.argList(args)];
  }

  operand(name: string): Operand | undefined {
    const make = OPERANDS[name];
    if (!make) throw new Error(`What is "${name}" of a script?`);
    return make(this);
  }

  entry(): string {
    const [holder, ttl] = [this.operand('holder'), this.operand('ttl')];
    return `${holder}/${ttl}/${this.one('x0', 'x1', 'x16', 's1', 'p1/2/1', 'p1/3/3')}`;
  }

  /** A moment near now, in ms. */
  moment(): number {
    return Math.floor(this.now()) + this.one(-5_000, -1, 0, 1, 3_000);
  }
}

const OPERANDS: Readonly<Record<string, (draw: Draw) => Operand | undefined>> = {
  holder: (draw) => draw.one(...HOLDERS),
  former: (draw) => draw.one(undefined, ...HOLDERS),
  successor: (draw) => draw.one(...HOLDERS),
  process: (draw) => draw.one(...HEARING),
  ttl: (draw) => draw.one(900, 2_000, 30_000),
  tokens: (draw) => draw.one(0, 1, 16),
  not_after: (draw) => draw.one(1, 9e15, 9e15, 9e15, 9e15),
  inbox: () => 'inbox:',
  limit: (draw) => draw.one(0, 1, 5, 5),
  arrival: (draw) => draw.one(undefined, undefined, draw.moment() * 1_000, AWAITING + 7),
  timestamp_compat: (draw) => draw.one(undefined, 1),
  kind: (draw) => draw.one('s', 'p'),
  permits: () => 2,
  count: (draw) => draw.one(1, 2, 3),
  condition: (draw) => draw.one('c', 'd'),
  over: (draw) => draw.one(0, 1),
  unsignalled: (draw) => draw.one(undefined, 1),
  entries: (draw) => Array.from({ length: draw.one(1, 2) }, () => draw.entry()).join(' '),
  entry: (draw) => draw.one(undefined, draw.entry()),
  served: (draw) => draw.one(undefined, draw.entry()),
  keep: (draw) => draw.one(undefined, undefined, 1_500),
  kept: () => 'kept',
  token: (draw) => draw.one(undefined, draw.moment() * 1_000),
  marker: (draw) => draw.one(undefined, undefined, SHARED, PERMITS),
  most: (draw) => draw.one(1, 9),
  last: (draw) => draw.one(undefined, AWAITING + 7, draw.moment() * 1_000),
  sight: (draw) => draw.one(undefined, undefined, sightOf(draw.one(...HOLDERS)), sightOf('nobody')),
  attempt: (draw) => draw.one(0, 1, 2),
  proposed: (draw) => draw.moment() * 1_000,
  run: (draw) => draw.one('abc', 'def'),
  grace: () => 3_000,
  mode: (draw) => draw.one('read', 'write'),
  fenced: (draw) => draw.one(0, 1),
  unit: (draw) => draw.one('ms', 's', 'float'),
  lasting: (draw) => draw.one(0, 1),
  seen: (draw) => draw.one(undefined, draw.moment()),
  type: (draw) => draw.one('string', 'hash'),
  publish: () => 'PUBLISH',
  channel: () => 'channel',
  older: (draw) => draw.one(undefined, 'older'),
  message: () => 'free',
  holds: (draw) => draw.one('', '{k}:'),
  commands: () => 'exists get set hset hget zadd zscore zcount del incr setnx getset lpush ltrim',
};

/** The operands of scripts that take several locks, and do not name them. */
export const SPECIAL = new Map<LuaScript, (draw: Draw) => Operand[]>([
  [
    exclusive.acquireFree,
    (draw) => {
      const keys = ['', 'queue', 'version'].flatMap((name) => LOCKS.map((k) => keyOf(k, name)));
      const common = ['not_after', 'ttl', 'tokens', 'process'].map((name) => draw.operand(name)!);
      return [7, keyOf('', 'fence'), ...keys, ...common, '1', draw.one('2', '3')];
    },
  ],
  [
    exclusive.releaseFree,
    (draw) => {
      const keys = ['', 'queue'].flatMap((name) => LOCKS.map((k) => keyOf(k, name)));
      return [4, ...keys, draw.operand('process')!, draw.one('1', '3'), '2'];
    },
  ],
  [exclusive.extend, (draw) => extension(draw, [''], false)],
  [shares.extend, (draw) => extension(draw, ['', 'holders', 'version'], true)],
]);

function extension(draw: Draw, names: readonly string[], counts: boolean): Operand[] {
  const all = (name: string): Operand[] => LOCKS.map(() => draw.operand(name)!);
  const ttls = draw.one(all('ttl'), [...all('ttl'), 10_000, 10_000], [draw.operand('ttl')!]);
  const keys = LOCKS.flatMap((lock) => names.map((name) => keyOf(lock, name)));
  const ofEach = LOCKS.map(() => draw.one('', draw.operand('count')!));
  return [keys.length, ...keys, ...all('holder'), ...(counts ? ofEach : []), ...ttls];
}

/** How a script of force names who was seen to hold a lock. */
function sightOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

function keyOf(lock: string, name: string): string {
  if (name === '') return lock;
  return name === 'fence' ? '{}:fence' : `{${lock}}:${name}`;
}

/** Of a guarded script: with the key that it has behind the others. */
export function operandsOf(draw: Draw, script: LuaScript, isGuarded: boolean): Operand[] {
  const [width, ...rest] = draw.operands(script);
  if (!isGuarded) return [width!, ...rest];
  const keys = rest.slice(0, Number(width));
  return [
    Number(width) + 1,
    ...keys,
    keyOf(String(keys[0]), 'grant'),
    ...rest.slice(Number(width)),
  ];
}
