import { LockOptionsError, QuorumNotReachedError } from '../../errors/index.js';
import type { Clock, ModuleSettings } from '../../options/index.js';
import {
  isServer,
  type OutageListener,
  prefixOf,
  RedisServer,
  rightsFor,
} from '../../redis/index.js';
import { newProcessId } from '../holder.js';
import type { NameSearch } from '../lock-names.js';
import type {
  LockPrimitive,
  LockStore,
  PushListener,
  StoreDescription,
} from '../lock-primitive.js';
import { boundedLeases } from '../quarantine/bounded-leases.js';
import { Generation } from '../quarantine/generation.js';
import { Membership } from './membership.js';
import { QuorumLock } from './quorum-lock.js';
import { QuorumNode } from './quorum-node.js';
import { scripts } from './scripts.js';
import { majorityOf } from './votes.js';

/** The lock on a majority of independent Redis servers. */
export class QuorumLockStore implements LockStore {
  readonly processId = newProcessId();
  readonly lock: LockPrimitive;
  readonly #members: readonly QuorumNode[];
  readonly #generations: Generation[] = [];
  readonly #servers: readonly RedisServer[];
  readonly #membership: Membership;
  #listener: PushListener | undefined;

  constructor(settings: ModuleSettings, clock: Clock, outages?: OutageListener) {
    const { nodes = [], keyPrefix, commandTimeout, durability, call } = settings;
    const members = (this.#members = nodes.map((source) => {
      if (!isServer(source)) {
        throw new LockOptionsError('Option "nodes" takes servers: a Cluster is none.');
      }
      const prefix = prefixOf(source) + keyPrefix;
      const inbox = `${prefix}inbox:`;
      const generation =
        durability === 'refuse' ? new Generation(prefix, call.ttl, clock) : undefined;
      if (generation) this.#generations.push(generation);
      const server = new RedisServer(source, commandTimeout, clock, inbox, this.processId, {
        durability,
        admit: generation?.admit,
        outages,
        rights: rightsFor(prefix, Object.values(scripts)),
      });
      return new QuorumNode(server, prefix, generation);
    }));
    this.#servers = members.map(({ server }) => server);
    this.#membership = new Membership(this.#servers, clock);
    const freed = (key: string): void => this.#listener?.kept(key, 0);
    const before = durability === 'refuse' ? boundedLeases(call.ttl) : undefined; // each node has a check of its own
    this.lock = new QuorumLock(members, commandTimeout, clock, freed, before);
  }

  get ready(): boolean {
    const ready = this.#servers.filter((server) => server.ready);
    return ready.length >= majorityOf(this.#servers.length);
  }

  open(listener: PushListener): Promise<void> {
    this.#listener = listener;
    return this.#membership.open(() => listener.reconnected());
  }

  /** Of a majority: it has a part of each that holds a lock. */
  async names(search: NameSearch): Promise<string[]> {
    const asked = await Promise.allSettled(this.#members.map((node) => node.names(search)));
    const found = asked.filter((answer) => answer.status === 'fulfilled');
    const majority = majorityOf(asked.length);
    const failed = asked.length - found.length;
    const names = new Set(found.flatMap(({ value }) => value));
    if (found.length >= majority) return [...names].slice(0, search.most);
    const votes = { nodes: asked.length, granted: 0, denied: found.length, failed };
    throw new QuorumNotReachedError(undefined, votes);
  }

  /** Nothing is pushed. */
  pushMissed(): void {}

  describe(): StoreDescription {
    const found = this.#servers.map((server) => server.describe());
    const warnings = found.flatMap((server) => server.warnings);
    warnings.push(...this.#generations.flatMap((generation) => generation.warnings));
    const count = this.#servers.length;
    if (count % 2 === 0) {
      warnings.push(
        `A quorum of ${count} servers survives no more failures than one of ${count - 1}: take an odd number.`,
      );
    }
    const names = found.map((server) => server.found).join('; ');
    return { found: `a quorum of ${count} servers: ${names}`, warnings };
  }

  close(): Promise<void> {
    return this.#membership.close();
  }
}
