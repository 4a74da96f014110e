import { Cluster, Redis } from 'ioredis';
import type { RedisSource } from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { ClusterWorld } from './cluster-world.js';
import { controlOf } from './control.js';
import type { Kind } from './kinds.js';
import { MemoryWorld } from './memory-world.js';
import { Quorum } from './quorum.js';
import { QuorumWorld } from './quorum-world.js';
import { RedisWorld } from './redis-world.js';
import type { World, Wrap } from './world.js';

/** A place where locks can live. */
export interface Topology {
  /** A fresh, empty world in it. */
  world(kind: Kind, wrap?: Wrap): Promise<World>;
  stop(): Promise<void>;
}

/** Every place where locks can live. */
export const topologies: Readonly<Record<string, () => Promise<Topology>>> = {
  'one Redis': () => onRedis((url) => url),
  'one Redis, strictly fair': () => strictly(onRedis((url) => url)),
  'one Redis, through a client with a keyPrefix': () =>
    onRedis((url) => new Redis(url, { keyPrefix: 'app:', lazyConnect: true })),
  'one Redis, in db 5': () => onRedis((url) => `${url}/5`, 5),
  'one Redis, replicated and confirmed': () => onReplicated(),
  'a primary behind Sentinels': () => onSentinels(),
  'a cluster': () => onCluster(),
  memory: async () => inMemory,
  'memory, strictly fair': () => strictly(inMemory),
};

/** Those without a queue: they keep a part of the promises, quorum.spec.ts says which. */
export const quorums: Readonly<Record<string, () => Promise<Topology>>> = {
  'a quorum of three': () => onQuorum(3),
  'a quorum of three, one dead': () => onQuorum(3, 1),
};

const inMemory: Topology = {
  world: async (kind, wrap) => new MemoryWorld(kind, wrap),
  stop: async () => {},
};

/** Those in which the callers of a process share a place. */
export const sharingTopologies: readonly string[] = Object.keys(topologies).filter(
  (name) => !name.endsWith(', strictly fair'),
);

/** Each caller has a place of its own: no local hand-off. */
async function strictly(made: Topology | Promise<Topology>): Promise<Topology> {
  const topology = await made;
  return {
    stop: () => topology.stop(),
    async world(kind, wrap) {
      return Object.assign(await topology.world(kind, wrap), { fairness: 'strict' as const });
    },
  };
}

async function onQuorum(count: number, dead = 0): Promise<Topology> {
  const quorum = await Quorum.of(count);
  const servers = quorum.servers.slice(dead);
  await Promise.all(quorum.servers.slice(0, dead).map((server) => server.kill()));
  const controls = servers.map(({ url }) => controlOf(url));
  return {
    async world(kind, wrap) {
      await Promise.all(controls.map((control) => control.flushall()));
      return new QuorumWorld(kind, wrap, quorum.urls, controls, servers);
    },
    async stop() {
      for (const control of controls) control.disconnect();
      await quorum.stop();
    },
  };
}

/** Started once for all kinds of a file: it takes seconds to come together. */
let shared: Promise<ClusterProcess> | undefined;

/** Ends what topologies share, when a file is through. */
export async function stopShared(): Promise<void> {
  const cluster = await shared;
  shared = undefined;
  await cluster?.stop();
}

async function onCluster(): Promise<Topology> {
  const processes = await (shared ??= ClusterProcess.start());
  const control = new Cluster(processes.seeds);
  return {
    async world(kind, wrap) {
      await Promise.all(control.nodes('master').map((node) => node.flushall()));
      return new ClusterWorld(kind, wrap, { cluster: processes.seeds }, control, processes);
    },
    async stop() {
      control.disconnect();
    },
  };
}

async function onSentinels(): Promise<Topology> {
  const group = await SentinelProcess.start();
  const [primary] = group.servers;
  const control = controlOf(primary!.url);
  return {
    async world(kind, wrap) {
      await control.flushall();
      return new RedisWorld(kind, wrap, group.source, control, primary!);
    },
    async stop() {
      control.disconnect();
      await group.stop();
    },
  };
}

/** Every grant and every renewal is confirmed by a replica. */
async function onReplicated(): Promise<Topology> {
  const group = await SentinelProcess.start({ replicas: 1, sentinels: 0 });
  const [primary] = group.servers;
  const control = controlOf(primary!.url);
  return {
    async world(kind, wrap) {
      await control.flushall();
      return new RedisWorld(kind, wrap, primary!.url, control, primary!, true);
    },
    async stop() {
      control.disconnect();
      await group.stop();
    },
  };
}

async function onRedis(source: (url: string) => RedisSource, db = 0): Promise<Topology> {
  const server = await RedisProcess.start();
  const control = controlOf(`${server.url}/${db}`);
  const where = source(server.url);
  return {
    async world(kind, wrap) {
      await control.flushall();
      return new RedisWorld(kind, wrap, where, control, server);
    },
    async stop() {
      control.disconnect();
      await server.stop();
    },
  };
}
