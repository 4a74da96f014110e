import type { Redis } from 'ioredis';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { linked, SentinelProcess } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { controlOf } from '../support/control.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';

/** Half a lease is longer than a failover of a Cluster: leases of all lengths meet it. In ms. */
const NODE_TIMEOUT = 1_500;
/** In ms. */
const TIMEOUTS = { commandTimeout: 1_000, connectTimeout: 2_000, outageWait: 20_000 };
const ACKS_TIMEOUT = 400;
/** One for each server that must not forget, which stays. */
const GENERATION = 'lock:{}:generation';

/** What stands where locks are, before any proxy. */
interface Servers {
  readonly servers: readonly RedisProcess[];
  readonly sentinel?: SentinelProcess;
  readonly cluster?: ClusterProcess;
  /** One that leads to the primary: new connections only, as a virtual IP, a name or a proxy does. */
  readonly address?: FaultProxy;
  /** The wall clock of the one server. */
  readonly clock?: SteppedClock | undefined;
  /** How a process finds them; `at` is where it reaches a server. */
  options(at: (port: number) => number): RedisLockOptions;
  stop(): Promise<unknown>;
}

/** `clocked`: somebody sets the clock of the servers. */
type Start = (clocked: boolean) => Promise<Servers>;

/** Where locks can live, in the order of the table. */
export const PLACES = {
  'one Redis': one([], { durability: 'ignore' }),
  'one Redis with an append-only file': one(['--appendonly', 'yes', '--appendfsync', 'always'], {
    durability: 'ignore',
  }),
  'one Redis that must not forget': one([], { durability: 'refuse' }),
  Sentinels: sentinels({ durability: 'ignore' }),
  'Sentinels, confirmed': sentinels({ replicas: { acks: 2, timeout: ACKS_TIMEOUT } }),
  'one address': behindOneAddress({ durability: 'ignore' }),
  'one address, confirmed': behindOneAddress({ replicas: { acks: 1, timeout: ACKS_TIMEOUT } }),
  Cluster: cluster({ durability: 'ignore' }),
  'Cluster, confirmed': cluster({ replicas: { acks: 1, timeout: ACKS_TIMEOUT } }),
  quorum: quorum({ durability: 'ignore' }),
  'quorum that must not forget': quorum({ durability: 'refuse' }),
} as const satisfies Record<string, Start>;

export type PlaceName = keyof typeof PLACES;

/** What a process of a history is given. */
export type PlaceOptions = Omit<RedisLockOptions, keyof typeof TIMEOUTS> & typeof TIMEOUTS;

function one(args: readonly string[], more: RedisLockOptions): Start {
  return async (clocked) => {
    const clock = clocked ? SteppedClock.make() : undefined;
    const server = await RedisProcess.start({ args, env: clock?.env });
    return {
      servers: [server],
      clock,
      options: (at) => ({ redis: `redis://127.0.0.1:${at(server.port)}`, ...more }),
      stop: async () => {
        await server.stop();
        clock?.remove();
      },
    };
  };
}

function quorum(more: RedisLockOptions): Start {
  return async () => {
    const servers = await Promise.all([1, 2, 3].map(() => RedisProcess.start()));
    return {
      servers,
      options: (at) => ({
        nodes: servers.map(({ port }) => `redis://127.0.0.1:${at(port)}`),
        ...more,
      }),
      stop: () => Promise.all(servers.map((server) => server.stop())),
    };
  };
}

function sentinels(more: RedisLockOptions): Start {
  return async () => {
    const sentinel = await SentinelProcess.start();
    return {
      servers: sentinel.servers,
      sentinel,
      options: (at) => ({
        redis: {
          name: sentinel.name,
          sentinels: sentinel.source.sentinels.map(({ host, port }) => ({ host, port: at(port) })),
          updateSentinels: false,
          natMap: mapped(sentinel.servers, at),
        },
        ...more,
      }),
      stop: () => sentinel.stop(),
    };
  };
}

function behindOneAddress(more: RedisLockOptions): Start {
  return async () => {
    const args = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
    const primary = await RedisProcess.start({ args });
    const following = [...args, '--replicaof', '127.0.0.1', String(primary.port)];
    const replica = await RedisProcess.start({ args: following });
    const control = controlOf(primary.url);
    await until('the replica is linked', () => linked(control, 1));
    control.disconnect();
    const servers = [primary, replica];
    const address = await FaultProxy.before(primary.port);
    return {
      servers,
      address,
      options: (at) => ({ redis: `redis://127.0.0.1:${at(address.port)}`, ...more }),
      stop: async () => {
        await address.close();
        await Promise.all(servers.map((server) => server.stop()));
      },
    };
  };
}

function cluster(more: RedisLockOptions): Start {
  return async () => {
    const made = await ClusterProcess.start({ replicas: 3, nodeTimeout: NODE_TIMEOUT });
    return {
      servers: made.servers,
      cluster: made,
      options: (at) => ({
        redis: {
          cluster: made.seeds.map(({ host, port }) => ({ host, port: at(port) })),
          natMap: mapped(made.servers, at),
        },
        ...more,
      }),
      stop: () => made.stop(),
    };
  };
}

type NatMap = Record<string, { host: string; port: number }>;

function mapped(servers: readonly RedisProcess[], at: (port: number) => number): NatMap {
  const host = '127.0.0.1';
  return Object.fromEntries(
    servers.map(({ port }) => [`${host}:${port}`, { host, port: at(port) }]),
  );
}

/** Servers for one history, and the ways of its processes to them. */
export class Place {
  readonly controls: readonly Redis[];

  private constructor(
    readonly name: PlaceName,
    private readonly made: Servers,
    /** For each process, by the port of the server; none where nothing happens on the way. */
    readonly proxies: readonly ReadonlyMap<number, FaultProxy>[],
  ) {
    this.controls = made.servers.map(({ url }) => controlOf(url));
  }

  /** `ways`: for so many processes something may happen on the way to the servers. */
  static async start(name: PlaceName, ways: number, clocked: boolean): Promise<Place> {
    const made = await PLACES[name](clocked);
    const ports = [
      ...made.servers.map(({ port }) => port),
      ...(made.sentinel?.source.sentinels ?? []).map(({ port }) => port),
      ...(made.address ? [made.address.port] : []),
    ];
    const way = async (): Promise<Map<number, FaultProxy>> =>
      new Map(
        await Promise.all(
          ports.map(async (port) => [port, await FaultProxy.before(port)] as const),
        ),
      );
    const proxies = await Promise.all(Array.from({ length: ways }, way));
    return new Place(name, made, proxies);
  }

  get servers(): readonly RedisProcess[] {
    return this.made.servers;
  }

  get sentinel(): SentinelProcess {
    return this.made.sentinel!;
  }

  get cluster(): ClusterProcess {
    return this.made.cluster!;
  }

  get address(): FaultProxy {
    return this.made.address!;
  }

  get clock(): SteppedClock {
    if (!this.made.clock) throw new Error('A clock that can be set needs gcc.');
    return this.made.clock;
  }

  /** Whether locks have readers, permits, conditions and a queue. */
  get hasQueue(): boolean {
    return !this.name.startsWith('quorum');
  }

  /** Whether answers count only once replicas have confirmed them. */
  get confirms(): boolean {
    return this.name.endsWith('confirmed');
  }

  /** Whether each write waits for a disk. */
  get syncs(): boolean {
    return this.name === 'one Redis with an append-only file';
  }

  /** Whether a server that is silent is replaced by another. */
  get failsOver(): boolean {
    return this.made.sentinel !== undefined || this.made.cluster !== undefined;
  }

  /** What this process connects to; none: one that looks from outside. */
  options(process?: number): PlaceOptions {
    const ways = process === undefined ? undefined : this.proxies[process];
    const at = (port: number): number => ways?.get(port)?.port ?? port;
    return { ...this.made.options(at), ...TIMEOUTS };
  }

  /** The servers that take writes, as they say. */
  async primaries(): Promise<number[]> {
    const roles = await Promise.all(
      this.controls.map(async (control) => (await control.role())[0] as unknown),
    );
    return roles.flatMap((role, at) => (role === 'master' ? [at] : []));
  }

  /** Every key of a lock, with what is left of it in ms; -1 if it never ends. */
  async keys(): Promise<{ name: string; ttl: number }[]> {
    const each = (await this.primaries()).map(async (at) => {
      const control = this.controls[at]!;
      const names = (await control.keys('*lock:*')).filter((name) => name !== GENERATION);
      return Promise.all(names.map(async (name) => ({ name, ttl: await control.pttl(name) })));
    });
    return (await Promise.all(each)).flat();
  }

  async stop(): Promise<void> {
    for (const control of this.controls) control.disconnect();
    await Promise.all(this.proxies.flatMap((ways) => [...ways.values()].map((way) => way.close())));
    await this.made.stop();
  }
}
