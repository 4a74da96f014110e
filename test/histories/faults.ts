import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { Gate } from '../support/gate.js';
import type { FaultProxy, Link } from '../support/fault-proxy.js';
import { slotOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import type { Crowd } from './crowd.js';
import { harmless, likely, publishes } from './hostile.js';
import type { Place, PlaceName } from './places.js';

/** What a fault strikes. */
export interface Scene {
  readonly place: Place;
  readonly crowd: Crowd;
  readonly random: () => number;
  /** The longest lease, in ms. */
  readonly ttl: number;
  readonly keys: readonly string[];
}

/** Something that goes wrong in a history, and is over again. */
export interface Fault {
  readonly name: string;
  readonly on: readonly PlaceName[];
  /** Where two may hold a lock for a while, though tokens tell them apart. */
  readonly fencedOn?: readonly PlaceName[];
  /** It happens on the way between processes and servers. */
  readonly proxied?: boolean;
  /** Somebody sets the clock of the one server. */
  readonly clocked?: boolean;
  /** It happens to servers, which may refuse commands and lose what they had. */
  readonly atServers?: boolean;
  /** It happens to processes alone: who came first is served first all the same. */
  readonly keepsOrder?: boolean;
  /** Resolves when it is over, with the moment from which on all go on, if that is earlier. */
  strike(scene: Scene): Promise<unknown>;
}

const ONE = [
  'one Redis',
  'one Redis with an append-only file',
  'one Redis that must not forget',
] as const;
const SENTINELS = ['Sentinels', 'Sentinels, confirmed'] as const;
const ADDRESS = ['one address', 'one address, confirmed'] as const;
const CLUSTER = ['Cluster', 'Cluster, confirmed'] as const;
const QUORUM = ['quorum', 'quorum that must not forget'] as const;
const ALL = [...ONE, ...SENTINELS, ...ADDRESS, ...CLUSTER, ...QUORUM] as const;
const QUEUES = [...ONE, ...SENTINELS, ...ADDRESS, ...CLUSTER] as const;
const HOUR = 3_600_000;
/** How long what has to come may take, in ms. */
const PATIENCE = 60_000;
/** How long a Cluster may take for a planned switch, in ms. */
const FAILOVER = 6_000;

/** One of the processes. */
function anyOf({ crowd, random }: Scene): number {
  return Math.floor(random() * crowd.players.length);
}

function between(random: () => number, least: number, most: number): number {
  return least + random() * (most - least);
}

/** What happens to processes. */
const processes: readonly Fault[] = [
  {
    name: 'a process is killed',
    on: ALL,
    keepsOrder: true,
    strike: (scene) => scene.crowd.kill(anyOf(scene)),
  },
  {
    name: 'a process is stopped for less than a lease',
    on: ALL,
    keepsOrder: true,
    strike: (scene) =>
      scene.crowd.during(anyOf(scene), false, () => sleep(scene.ttl * 0.3 * scene.random())),
  },
  {
    name: 'a process is stopped for longer than a lease',
    on: ALL,
    keepsOrder: true,
    strike: (scene) => scene.crowd.during(anyOf(scene), false, () => sleep(scene.ttl * 1.2)),
  },
  {
    name: 'all processes are stopped',
    on: ALL,
    keepsOrder: true,
    strike: (scene) =>
      Promise.all(
        scene.crowd.players.map((_, at) =>
          scene.crowd.during(at, false, () => sleep(scene.ttl * 1.1 * scene.random())),
        ),
      ),
  },
  {
    name: 'a machine sleeps',
    on: ALL,
    keepsOrder: true,
    strike: (scene) =>
      scene.crowd.during(anyOf(scene), true, () =>
        sleep(scene.ttl * between(scene.random, 0.2, 1.3)),
      ),
  },
  {
    name: 'a machine sleeps with answers under way',
    on: ALL,
    proxied: true,
    async strike(scene) {
      const at = anyOf(scene);
      const morning = new Gate();
      const ways = [...scene.place.proxies[at]!.values()];
      for (const way of ways) way.down = { until: morning.opened };
      await sleep(20); // what is asked now is answered in the night
      await scene.crowd.during(at, true, async () => {
        await sleep(scene.ttl * between(scene.random, 0.2, 1.3));
        morning.open();
        for (const way of ways) way.down = {};
        await sleep(20); // they lie in its socket when it wakes
      });
    },
  },
  {
    name: 'the clock of a machine is an hour off',
    on: ALL,
    async strike(scene) {
      const player = scene.crowd.players[anyOf(scene)]!;
      player.setWall(scene.random() < 0.5 ? HOUR : -HOUR);
      await sleep(scene.ttl * between(scene.random, 0.2, 1.3));
      player.setWall(0);
    },
  },
  {
    name: 'an event loop stands still',
    on: ALL,
    keepsOrder: true,
    async strike(scene) {
      const player = scene.crowd.players[anyOf(scene)]!;
      await scene.crowd.standingStill(player, () =>
        player.tell('stall', scene.ttl * between(scene.random, 0.2, 1.2)),
      );
    },
  },
  {
    name: 'app.close() in the midst',
    on: ALL,
    keepsOrder: true,
    strike: (scene) => scene.crowd.players[anyOf(scene)]!.tell('restart'),
  },
  {
    name: 'a rolling restart of the application',
    on: ALL,
    keepsOrder: true,
    async strike({ crowd, random }) {
      for (const player of crowd.players) {
        await player.tell('restart');
        await sleep(100 * random());
      }
    },
  },
];

/**
 * What happens on the way, to one process or to all of them, and how long. `begin` may resolve with how it ends. TCP loses
 * nothing of a connection that goes on: what was dropped ends its connection.
 */
function onTheWay(
  name: string,
  begin: (way: FaultProxy, scene: Scene) => void | (() => void) | Promise<void>,
  { ms = (ttl: number) => 0.5 * ttl, on = ALL as readonly PlaceName[] } = {},
): Fault {
  return {
    name,
    on,
    proxied: true,
    async strike(scene) {
      const { proxies } = scene.place;
      const struck = scene.random() < 0.3 ? proxies : [proxies[anyOf(scene)]!];
      const ways = struck.flatMap((each) => [...each.values()]);
      const ends = await Promise.all(ways.map(async (way) => begin(way, scene)));
      await sleep(ms(scene.ttl) * between(scene.random, 0.3, 1));
      for (const end of ends) end?.();
      for (const way of ways) way.heal();
      await Promise.allSettled(ways.flatMap(({ lateAnswers }) => lateAnswers));
      await Promise.all(ways.filter((way) => !way.listening).map((way) => way.listen()));
    },
  };
}

/** Nothing comes through; what was sent comes later, or never, by the end of its connection. */
function silence(...directions: readonly ('up' | 'down')[]) {
  return (way: FaultProxy, { random }: Scene): (() => void) => {
    const gate = new Gate();
    const comesLater = random() < 0.5;
    for (const direction of directions) {
      way[direction] = comesLater ? { until: gate.opened } : { drop: true };
    }
    return () => (comesLater ? gate.open() : way.reset());
  };
}

const LOSSES = 0.05;

/** Some commands meet with this. */
function sometimes(fate: 'lose' | 'cut' | 'reset' | 'late') {
  return (way: FaultProxy, { random }: Scene): void => {
    way.lateness = 200 + 1_000 * random();
    way.fate = ([command], link) => {
      if (!/^(evalsha|eval|fcall)$/.test(command!) || random() >= LOSSES) return 'pass';
      // The answer to the next command would be taken for that of this one.
      if (fate === 'lose' || fate === 'late') endLater(way, link, way.lateness / 2);
      return fate;
    };
  };
}

/** Nothing comes through on this connection any more, which ends after a while. */
function endLater(way: FaultProxy, link: Link, ms: number): void {
  link.up = link.down = { drop: true };
  setTimeout(() => way.links.has(link) && link.reset(), ms);
}

const network: readonly Fault[] = [
  onTheWay('connections are reset', (way) => way.reset(), { ms: () => 50 }),
  onTheWay('connections are refused', (way) => way.refuse()),
  onTheWay('nothing comes through', silence('up', 'down')),
  onTheWay('nothing comes through for longer than a lease', silence('up', 'down'), {
    ms: (ttl) => 1.5 * ttl,
  }),
  onTheWay('no answer comes through', silence('down')),
  onTheWay('answers are lost with their connections', sometimes('cut')),
  onTheWay('commands are lost', sometimes('lose')),
  onTheWay('connections end at a command', sometimes('reset')),
  onTheWay('commands arrive late, on another connection', sometimes('late')),
  onTheWay('the way is slow', (way, { random }) => {
    way.up = { delay: 100 * random() };
    way.down = { delay: 100 * random() };
  }),
  onTheWay('bytes come one by one', (way) => {
    way.up = { slice: true };
    way.down = { slice: true };
  }),
  onTheWay(
    'pushes are lost',
    (way) => {
      const inboxes = [...way.links].filter(({ subscriber }) => subscriber);
      for (const inbox of inboxes) inbox.down = { drop: true };
      return () => inboxes.forEach((inbox) => inbox.reset());
    },
    { on: QUEUES },
  ),
  {
    name: 'inboxes are cut off',
    on: QUEUES,
    proxied: true,
    async strike({ place }) {
      for (const way of place.proxies.flatMap((ways) => [...ways.values()])) {
        for (const link of way.links) if (link.subscriber) link.reset();
      }
      await sleep(50);
    },
  },
];

/** What another user of the same Redis says to the inboxes, who hears and reads all there. */
function hostile(name: string, forge: typeof harmless, more: Partial<Fault>): Fault {
  return {
    name,
    on: QUEUES,
    ...more,
    strike: ({ place, random, ttl }) =>
      publishes(forge, { place, random, ms: ttl * between(random, 0.3, 1) }),
  };
}

const messages: readonly Fault[] = [
  hostile('a hostile publisher', harmless, { keepsOrder: true }),
  hostile('a forger of grants', likely, { fencedOn: QUEUES }),
];

/** What happens to one Redis, or to one server of a quorum. */
function atServer(
  name: string,
  strike: (control: Redis, scene: Scene, at: number) => Promise<unknown>,
  more: Partial<Fault> = {},
): Fault {
  return {
    name,
    on: [...ONE, ...QUORUM],
    ...more,
    strike(scene) {
      const at = Math.floor(scene.random() * scene.place.servers.length);
      return strike(scene.place.controls[at]!, scene, at);
    },
  };
}

/** A setting is another for a while. */
function setting(name: string, value: string, usual: string, on: readonly PlaceName[] = ONE) {
  return {
    on,
    async strike({ place, ttl, random }: Scene) {
      const primaries = await place.primaries();
      const controls = primaries.map((at) => place.controls[at]!);
      await Promise.all(controls.map((control) => control.config('SET', name, value)));
      await sleep(ttl * between(random, 0.2, 0.8));
      await Promise.all(controls.map((control) => control.config('SET', name, usual)));
    },
  };
}

async function restart({ place }: Scene, at: number, pause = 0): Promise<void> {
  await place.servers[at]!.kill();
  await sleep(pause);
  await place.servers[at]!.run();
}

async function frozen(scene: Scene, at: number, ms: number): Promise<void> {
  const server = scene.place.servers[at]!;
  server.signal('SIGSTOP');
  await sleep(ms).finally(() => server.signal('SIGCONT'));
}

/** Somebody sets the clock of the server by so many ms, and leaves it there. */
function setServerClock(
  name: string,
  by: (scene: Scene) => number,
  more: Partial<Fault> = {},
): Fault {
  return atServer(
    name,
    async (_, scene) => {
      scene.place.clock.step(by(scene));
      await sleep(scene.ttl * 0.5 * scene.random());
    },
    { on: ONE, clocked: true, ...more },
  );
}

const servers: readonly Fault[] = [
  atServer('a server stands still for less than a lease', (_, scene, at) =>
    frozen(scene, at, scene.ttl * 0.3),
  ),
  atServer('a server stands still for longer than a lease', (_, scene, at) =>
    frozen(scene, at, scene.ttl * 1.2),
  ),
  atServer('a server is killed and restarted', (_, scene, at) => restart(scene, at, 100), {
    fencedOn: ['one Redis', 'quorum'],
  }),
  atServer(
    'a rolling restart of the servers',
    async (_, scene) => {
      for (const at of scene.place.servers.keys()) await restart(scene, at);
    },
    { fencedOn: ['one Redis', 'quorum'] },
  ),
  atServer('FLUSHALL', (control) => control.flushall(), { fencedOn: [...ONE, ...QUORUM] }),
  atServer(
    'keys of locks are deleted',
    async (control, { keys }) => {
      await control.del(...keys.map((key) => `lock:${key}`));
    },
    { fencedOn: [...ONE, ...QUORUM] },
  ),
  atServer(
    'keys of locks are told to end soon',
    async (control, { keys, random }) => {
      const ends = Math.ceil(50 * random());
      await Promise.all(keys.map((key) => control.pexpire(`lock:${key}`, ends)));
    },
    { fencedOn: [...ONE, ...QUORUM] },
  ),
  atServer('keys of locks are told not to end', async (control, { keys, ttl, random }) => {
    const locks = keys.map((key) => `lock:${key}`);
    await Promise.all(locks.map((lock) => control.persist(lock)));
    await sleep(ttl * between(random, 0.2, 1.3));
    for (const lock of locks) {
      if ((await control.pttl(lock)) === -1) await control.pexpire(lock, ttl);
    }
  }),
  setServerClock('the clock of a server jumps ahead', () => HOUR, { fencedOn: ONE }),
  setServerClock('the clock of a server is set back', ({ ttl, random }) => -ttl * random()),
  atServer('SCRIPT FLUSH', (control) => control.script('FLUSH')),
  atServer('connections are killed by the server', async (control) => {
    for (const type of ['normal', 'pubsub']) await control.call('CLIENT', 'KILL', 'TYPE', type);
  }),
  atServer('CLIENT PAUSE', async (control, { ttl, random }) => {
    const ms = Math.round(ttl * between(random, 0.1, 0.6));
    await control.call('CLIENT', 'PAUSE', String(ms), 'WRITE');
    await sleep(ms);
  }),
  atServer('a foreign script runs long', async (control, { ttl }) => {
    await control.config('SET', 'lua-time-limit', '100');
    const loop = `local function now() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end
      local from = now() while now() - from < tonumber(ARGV[1]) do end`;
    await control.eval(loop, 0, Math.round(ttl * 0.4));
  }),
  { name: 'no memory is left', ...setting('maxmemory', '1', '0', [...ONE, ...QUORUM]) },
  {
    name: 'too few replicas are linked',
    ...setting('min-replicas-to-write', '9', '0', [...ONE, ...SENTINELS]),
  },
  atServer(
    'the user may not run scripts',
    async (control, { ttl }) => {
      await control.call('ACL', 'SETUSER', 'default', '-@scripting');
      await sleep(ttl * 0.5);
      await control.call('ACL', 'SETUSER', 'default', '+@all');
    },
    { on: ONE },
  ),
  atServer(
    'a server is read-only',
    async (control, { ttl }) => {
      await control.replicaof('127.0.0.1', '1');
      await sleep(ttl * 0.5);
      await control.replicaof('NO', 'ONE');
    },
    { on: ONE },
  ),
  atServer(
    'an operator forces locks',
    async (_, { place, keys, ttl }) => {
      const operator = new LockProcess({ ...place.options(), ttl });
      try {
        for (const key of keys) await operator.force(key);
      } finally {
        await operator.close();
      }
    },
    { on: QUEUES, fencedOn: QUEUES },
  ),
  {
    name: 'most servers of a quorum stand still',
    on: QUORUM,
    async strike(scene) {
      await Promise.all([0, 1].map((at) => frozen(scene, at, scene.ttl * 0.7)));
    },
  },
];

/** Each server that was no primary follows one that is, and has what is written there. */
async function whole(place: Place): Promise<void> {
  const linked = async (at: number): Promise<boolean> => {
    const info = await place.controls[at]!.info('replication').catch(() => '');
    return /role:master|master_link_status:up/.test(info);
  };
  const count = place.name.startsWith('Cluster') ? 3 : 1;
  await until(
    'all follow again',
    async () => {
      const each = await Promise.all(place.servers.map((_, at) => linked(at)));
      return each.every(Boolean) && (await place.primaries()).length === count;
    },
    PATIENCE,
  );
}

/** The primary that the Sentinels name. */
async function primaryOf({ place }: Scene): Promise<number> {
  const named = async (): Promise<number> => {
    const port = await place.sentinel.primary();
    return 1 + place.servers.findIndex((server) => server.port === port);
  };
  return (await until('a Sentinel answers', named, PATIENCE)) - 1;
}

async function switched(scene: Scene, from: number): Promise<void> {
  await until('another is promoted', async () => (await primaryOf(scene)) !== from, PATIENCE);
}

const behindSentinels: readonly Fault[] = [
  {
    name: 'a planned switch of the primary',
    on: SENTINELS,
    fencedOn: ['Sentinels'],
    async strike({ place }) {
      await place.sentinel.failOver();
      await whole(place);
    },
  },
  {
    name: 'the primary dies',
    on: SENTINELS,
    fencedOn: ['Sentinels'],
    async strike(scene) {
      const from = await primaryOf(scene);
      await scene.place.servers[from]!.kill();
      await switched(scene, from);
      await scene.place.servers[from]!.run();
      await whole(scene.place);
    },
  },
  {
    name: 'the primary hangs, and goes on beside its successor',
    on: SENTINELS,
    fencedOn: ['Sentinels'],
    async strike(scene) {
      const from = await primaryOf(scene);
      scene.place.servers[from]!.signal('SIGSTOP');
      await switched(scene, from).finally(() => scene.place.servers[from]!.signal('SIGCONT'));
      await whole(scene.place);
    },
  },
  {
    name: 'a switch of the primary behind slow Sentinels',
    on: SENTINELS,
    fencedOn: ['Sentinels'],
    proxied: true,
    async strike(scene) {
      const { place } = scene;
      const ports = new Set(place.sentinel.source.sentinels.map(({ port }) => port));
      const ways = place.proxies.flatMap((each) => [...each.values()]);
      const slow = ways.filter(({ target }) => ports.has(target));
      for (const way of slow) way.down = { delay: 300 * scene.random() };
      await place.sentinel.failOver();
      await whole(place);
      for (const way of slow) way.heal();
    },
  },
  {
    name: 'a replica dies',
    on: SENTINELS,
    async strike(scene) {
      const replica = ((await primaryOf(scene)) + 1) % 3;
      await restart(scene, replica, scene.ttl * 0.5);
      await whole(scene.place);
    },
  },
  {
    name: 'a Sentinel hangs',
    on: SENTINELS,
    async strike({ place, ttl }) {
      place.sentinel.signalSentinel(1, 'SIGSTOP');
      await sleep(ttl * 0.5).finally(() => place.sentinel.signalSentinel(1, 'SIGCONT'));
    },
  },
];

/**
 * The primary is another, and new connections to the address reach it, from a little before or after that. Some connections may
 * end meanwhile; the others stay where they are.
 */
function behindOneAddress(
  name: string,
  swap: (place: Place, from: number, to: number) => Promise<unknown>,
  more: Partial<Fault> = {},
): Fault {
  return {
    name,
    on: ADDRESS,
    ...more,
    async strike({ place, random, ttl }) {
      const { address, servers } = place;
      const from = servers.findIndex(({ port }) => port === address.target);
      const to = 1 - from;
      const [isEarly, ending] = [random() < 0.5, random() < 0.5 ? 0 : random()];
      const move = async (): Promise<void> => {
        await sleep(ttl * 0.1 * random());
        for (const link of address.links) if (random() < ending) link.reset();
        address.target = servers[to]!.port;
      };
      const moved = isEarly ? move() : undefined;
      await swap(place, from, to);
      await (moved ?? move());
      await whole(place);
    },
  };
}

async function follow({ controls, servers }: Place, from: number, to: number): Promise<void> {
  await controls[from]!.replicaof('127.0.0.1', servers[to]!.port);
}

const atOneAddress: readonly Fault[] = [
  behindOneAddress('a planned switch behind one address', async (place, from, to) => {
    const port = String(place.servers[to]!.port);
    await place.controls[from]!.call('FAILOVER', 'TO', '127.0.0.1', port);
    const isOver = async (): Promise<boolean> => String(await place.primaries()) === String(to);
    await until('it is promoted', isOver, PATIENCE);
  }),
  behindOneAddress(
    'a replica is promoted behind one address',
    async (place, from, to) => {
      await place.controls[to]!.replicaof('NO', 'ONE');
      await follow(place, from, to);
    },
    { fencedOn: ['one address'] },
  ),
  behindOneAddress(
    'the primary dies behind one address',
    async (place, from, to) => {
      await place.servers[from]!.kill();
      await place.controls[to]!.replicaof('NO', 'ONE');
      await place.servers[from]!.run();
      await follow(place, from, to);
    },
    { fencedOn: ['one address'] },
  ),
];

/** The primaries, and the one among them that has a lock that is wanted. */
async function primaryWith({ place, random, keys }: Scene): Promise<number> {
  const key = keys[Math.floor(random() * keys.length)]!;
  const slot = slotOf(`lock:${key}`);
  type Range = [first: number, last: number, primary: [host: string, port: number]];
  const known = (await place.primaries())[0]!;
  const ranges = (await place.controls[known]!.cluster('SLOTS')) as unknown as Range[];
  const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
  return place.servers.findIndex((server) => server.port === port);
}

/** One primary is away until its replica is promoted, and comes back. */
async function failover(
  scene: Scene,
  away: (at: number) => Promise<unknown>,
  back: (at: number) => Promise<unknown>,
): Promise<void> {
  const { place } = scene;
  const at = await primaryWith(scene);
  await away(at);
  const others = place.controls.toSpliced(at, 1);
  const promoted = async (): Promise<boolean> => {
    const roles = await Promise.all(others.map((control) => control.role()));
    return roles.filter(([role]) => role === 'master').length === 3;
  };
  try {
    await until('its replica is promoted', promoted, PATIENCE);
  } finally {
    await back(at);
  }
  await whole(place);
}

const inCluster: readonly Fault[] = [
  ...(['at once', 'in many steps'] as const).map((how): Fault => ({
    name: `a slot moves ${how}`,
    on: CLUSTER,
    async strike(scene) {
      const key = scene.keys[Math.floor(scene.random() * scene.keys.length)]!;
      const finish = await scene.place.cluster.beginMove(slotOf(`lock:${key}`));
      if (how === 'in many steps') await sleep(scene.ttl * between(scene.random, 0.1, 0.5));
      await finish();
    },
  })),
  {
    name: 'a primary of a Cluster dies',
    on: CLUSTER,
    fencedOn: ['Cluster'],
    strike: (scene) =>
      failover(
        scene,
        (at) => scene.place.servers[at]!.kill(),
        (at) => scene.place.servers[at]!.run(),
      ),
  },
  {
    name: 'a primary of a Cluster hangs',
    on: CLUSTER,
    fencedOn: ['Cluster'],
    strike: (scene) =>
      failover(
        scene,
        async (at) => scene.place.servers[at]!.signal('SIGSTOP'),
        async (at) => scene.place.servers[at]!.signal('SIGCONT'),
      ),
  },
  {
    name: 'a planned switch in a Cluster',
    on: CLUSTER,
    async strike(scene) {
      const { place } = scene;
      const primaries = await place.primaries();
      const replicas = [...place.servers.keys()].filter((at) => !primaries.includes(at));
      const chosen = replicas[Math.floor(scene.random() * replicas.length)]!;
      const promoted = async (): Promise<boolean> => (await place.primaries()).includes(chosen);
      // Without votes it is given up after 5 s, and soon after another failover there are none.
      const asked = async (): Promise<boolean> => {
        await place.controls[chosen]!.cluster('FAILOVER').catch(() => {});
        return until('it is promoted', promoted, FAILOVER).catch(() => false);
      };
      await until('a failover succeeds', asked, PATIENCE);
      await whole(place);
    },
  },
  {
    name: 'one primary is dead, and the others have leases',
    on: CLUSTER,
    fencedOn: CLUSTER, // it had no replica left
    async strike(scene) {
      const { place } = scene;
      const at = await primaryWith(scene);
      const { port } = place.servers[at]!;
      const info = await Promise.all(place.controls.map((each) => each.info('replication')));
      const replica = info.findIndex((said) => said.includes(`master_port:${port}\r`));
      // Nobody takes its place: its slots have no server until it is back.
      await place.servers[replica]!.kill();
      await place.servers[at]!.kill();
      await sleep(scene.ttl);
      await place.servers[at]!.run();
      await place.servers[replica]!.run();
      await whole(place);
    },
  },
  {
    name: 'a rolling restart of a Cluster',
    on: CLUSTER,
    fencedOn: ['Cluster', 'Cluster, confirmed'],
    async strike(scene) {
      for (const at of scene.place.servers.keys()) {
        await restart(scene, at, 100);
        await whole(scene.place);
      }
    },
  },
];

/** Nothing happens: by this the others are measured. */
const none: Fault = { name: 'none', on: ALL, keepsOrder: true, strike: () => sleep(200) };

export const FAULTS: readonly Fault[] = [
  none,
  ...processes,
  ...network,
  ...messages,
  ...[...servers, ...behindSentinels, ...atOneAddress, ...inCluster].map((fault) => ({
    ...fault,
    atServers: true,
  })),
];

/** What may happen beside another fault. */
export const COMPANIONS = processes.filter(({ proxied }) => !proxied);
