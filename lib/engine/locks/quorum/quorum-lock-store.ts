import { LockOptionsError } from '../../errors/index.js';
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
import type { LockStore, PushListener, StoreDescription, StoreHealth } from '../lock-store.js';
import { boundedLeases, checkSteps } from '../preconditions.js';
import { ServerEpoch } from '../server-epoch.js';
import { Membership } from './membership.js';
import { QuorumLock } from './quorum-lock.js';
import { QuorumNode, scripts } from './quorum-node.js';
import { majorityOf, notReached } from './ballot.js';

/** The lock on a majority of independent Redis servers. */
export class QuorumLockStore extends QuorumLock implements LockStore {
  readonly processId: string;
  readonly #servers: readonly RedisServer[];
  readonly #membership: Membership;

  constructor(settings: ModuleSettings, clock: Clock, outages?: OutageListener) {
    const { nodes = [], keyPrefix, commandTimeout, connectTimeout, durability, call } = settings;
    const processId = newProcessId();
    const members = nodes.map((source) => {
      if (!isServer(source)) {
        throw new LockOptionsError('Option "nodes" takes servers: a Cluster is none.');
      }
      const prefix = prefixOf(source) + keyPrefix;
      const epoch = durability === 'refuse' ? new ServerEpoch(prefix, call.ttl, clock) : undefined;
      const inbox = `${prefix}inbox:`;
      const server = new RedisServer(source, commandTimeout, clock, inbox, processId, {
        durability,
        connectTimeout,
        admit: epoch?.admit,
        outages,
        rights: rightsFor(prefix, Object.values(scripts)),
      });
      return new QuorumNode(server, prefix, epoch);
    });
    super(members, commandTimeout, clock);
    if (durability === 'refuse') checkSteps(this, boundedLeases(call.ttl)); // each node checks its own grace period
    this.processId = processId;
    this.#servers = members.map(({ server }) => server);
    this.#membership = new Membership(this.#servers, clock);
  }

  get ready(): boolean {
    const ready = this.#servers.filter((server) => server.ready);
    return ready.length >= majorityOf(this.#servers.length);
  }

  open(listener: PushListener): Promise<void> {
    this.listener = listener;
    return this.#membership.open(() => listener.reconnected());
  }

  /** Lists the names that a majority of nodes has: each held lock has a vote on one of them. */
  async names(search: NameSearch): Promise<string[]> {
    const asked = await Promise.allSettled(this.nodes.map((node) => node.names(search)));
    const found = asked.filter((answer) => answer.status === 'fulfilled');
    if (found.length < majorityOf(asked.length)) {
      throw notReached(undefined, { nodes: asked.length, granted: 0, denied: found.length });
    }
    const names = new Set(found.flatMap(({ value }) => value));
    return [...names].slice(0, search.most);
  }

  /** A quorum pushes nothing. */
  pushMissed(): void {}

  describe(): StoreDescription {
    const names = this.#servers.map((server) => server.describe().found).join('; ');
    const found = `a quorum of ${this.#servers.length} servers: ${names}`;
    return { found, warnings: [...this.#warnings, ...this.#graces] };
  }

  get #warnings(): string[] {
    const count = this.#servers.length;
    const warnings = this.#servers.flatMap((server) => server.describe().warnings);
    if (count % 2 === 0) {
      warnings.push(
        `A quorum of ${count} servers survives no more failures than one of ${count - 1}: take an odd number.`,
      );
    }
    return [...new Set(warnings)];
  }

  /** The warnings of servers in their grace period. */
  get #graces(): string[] {
    return this.nodes.flatMap(({ epoch }) => epoch?.warnings ?? []);
  }

  async health(within: number): Promise<StoreHealth> {
    const found = await Promise.all(this.nodes.map((node) => node.health(within)));
    const granting = found.filter(({ status }, nth) => status === 'up' && this.nodes[nth]!.grants);
    const [up, count] = [granting.length, found.length];
    const majority = majorityOf(count);
    const problems = this.#graces;
    if (up < majority) {
      problems.push(`Of ${count} servers, ${up} can grant locks: a quorum needs ${majority}.`);
    }
    return {
      isUp: up >= majority,
      servers: found,
      inbox: undefined,
      problems,
      warnings: this.#warnings,
    };
  }

  close(): Promise<void> {
    return this.#membership.close();
  }
}
