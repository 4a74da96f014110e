import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort, isFree, majorVersion, RedisProcess } from './redis-server.js';

const SLOTS = 16_384;
/** How far above its port a node talks to the others, unless it is told where: before Redis 7 it cannot be. */
const BUS = 10_000;

/** A Redis Cluster of our own on loopback: primaries that share the slots, and a replica for each of the first. */
export class ClusterProcess {
  private constructor(
    readonly primaries: readonly RedisProcess[],
    readonly replicas: readonly RedisProcess[],
  ) {}

  /** Resolves when every node says that the Cluster is whole. `args`: more of each node's redis.conf, made anew for each port that is tried. */
  static async start({
    primaries = 3,
    replicas = 0,
    nodeTimeout = 60_000,
    args: more = (_at: number): readonly string[] | Promise<readonly string[]> => [],
  } = {}): Promise<ClusterProcess> {
    const node =
      `--cluster-enabled yes --cluster-config-file nodes.conf --cluster-node-timeout ${nodeTimeout} --repl-diskless-sync-delay 0 --cluster-require-full-coverage no`.split(
        ' ',
      );
    const chosen = majorVersion() >= 7;
    const start = (at: number): Promise<RedisProcess> => {
      const bus = async () => (chosen ? ['--cluster-port', String(await freePort())] : []);
      const args = async () => [...node, ...(await bus()), ...(await more(at))];
      return RedisProcess.start({ args, port: chosen ? freePort : freePortBelowBus });
    };
    const servers = await Promise.all(
      Array.from({ length: primaries + replicas }, (_, at) => start(at)),
    );
    const cluster = new ClusterProcess(servers.slice(0, primaries), servers.slice(primaries));
    try {
      await cluster.#join();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get servers(): readonly RedisProcess[] {
    return [...this.primaries, ...this.replicas];
  }

  get seeds(): { host: string; port: number }[] {
    return this.servers.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** The slots of a primary at the start: its first, and the first of the next primary. */
  slotsOf(primary: number): readonly [first: number, next: number] {
    const share = SLOTS / this.primaries.length;
    return [Math.floor(primary * share), Math.floor((primary + 1) * share)];
  }

  /** Moves a slot and what is in it to another primary, as redis-cli does. */
  async moveSlot(slot: number, to?: number): Promise<void> {
    await (
      await this.beginMove(slot, to)
    )();
  }

  /** Says of a slot that it moves to another primary, and moves nothing yet: what is returned does. */
  async beginMove(slot: number, to?: number): Promise<() => Promise<void>> {
    const nodes = this.primaries.map(({ url }) => new Redis(url));
    const ids = await Promise.all(nodes.map((node) => node.cluster('MYID') as Promise<string>));
    const from = ids.indexOf(await ownerOf(nodes[0]!, slot));
    const into = to ?? (from + 1) % nodes.length;
    const [source, target] = [nodes[from]!, nodes[into]!];
    const set = (node: Redis, state: string, id: string): Promise<unknown> =>
      node.call('CLUSTER', 'SETSLOT', String(slot), state, id);
    await set(target, 'IMPORTING', ids[from]!);
    await set(source, 'MIGRATING', ids[into]!);
    return async () => {
      try {
        for (;;) {
          const keys = (await source.cluster('GETKEYSINSLOT', slot, 100)) as string[];
          if (keys.length === 0) break;
          const port = String(this.primaries[into]!.port);
          await source.call('MIGRATE', '127.0.0.1', port, '', '0', '5000', 'KEYS', ...keys);
        }
        for (const node of new Set([target, source, ...nodes])) await set(node, 'NODE', ids[into]!);
      } finally {
        for (const node of nodes) node.disconnect();
      }
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async #join(): Promise<void> {
    const clients = this.servers.map(({ url }) => new Redis(url));
    try {
      for (const [at, client] of clients.entries()) {
        await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1));
        if (at >= this.primaries.length) continue;
        const [first, next] = this.slotsOf(at);
        const slots = Array.from({ length: next - first }, (_, nth) => first + nth);
        await client.cluster('ADDSLOTS', slots);
      }
      for (const other of clients.slice(1)) {
        const port = other.options.port!;
        const [, bus = port + BUS] = (await other.config('GET', 'cluster-port')) as string[];
        await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus));
      }
      await all(clients, async (client) => {
        const info = await client.cluster('INFO');
        return info.includes(`cluster_known_nodes:${clients.length}\r\n`);
      });
      for (const [at, replica] of clients.slice(this.primaries.length).entries()) {
        const id = await clients[at]!.cluster('MYID');
        await all([replica], () => follows(replica, id));
        await all([replica], async () => (await replica.info()).includes('master_link_status:up'));
      }
      await all(clients, async (client) => {
        const info = await client.cluster('INFO');
        return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}\r\n`);
      });
      // A node drops what is published at another until it knows whose link that came by; Redis 6.2 cannot be asked.
      await all(clients, async (client) => {
        const links = await client.call('CLUSTER', 'LINKS').catch(() => undefined);
        return !links || fromOthers(links as Link[]) === clients.length - 1;
      });
    } finally {
      for (const client of clients) client.disconnect();
    }
  }
}

/** A free port whose bus is free as well. */
async function freePortBelowBus(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + BUS)) return port;
  }
}

/** The id of the primary that has a slot, as a node knows it. */
async function ownerOf(node: Redis, slot: number): Promise<string> {
  type Range = [first: number, last: number, primary: [host: string, port: number, id: string]];
  const ranges = (await node.cluster('SLOTS')) as unknown as Range[];
  const [, , primary] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
  return primary[2];
}

/** False while the two have not made each other's acquaintance. */
async function follows(replica: Redis, primary: string): Promise<boolean> {
  try {
    await replica.cluster('REPLICATE', primary);
    return true;
  } catch (error) {
    if (String(error).includes('Unknown node')) return false;
    throw error;
  }
}

type Link = readonly (string | number)[];

/** How many links of other nodes lead here: each is a list of names and values, `direction` first. */
function fromOthers(links: readonly Link[]): number {
  return links.filter(([, direction]) => direction === 'from').length;
}

/** Resolves when the condition is true of all of them. */
async function all(
  clients: readonly Redis[],
  condition: (client: Redis) => Promise<boolean>,
): Promise<void> {
  const end = Date.now() + 30_000;
  for (const client of clients) {
    while (!(await condition(client))) {
      if (Date.now() > end) throw new Error('The Cluster did not come together within 30 s.');
      await sleep(20);
    }
  }
}
