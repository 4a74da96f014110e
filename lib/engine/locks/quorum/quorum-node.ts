import { LockStoreError } from '../../errors/index.js';
import { momentOf } from '../../options/index.js';
import {
  LockKeyLists,
  LuaScript,
  type Operands,
  type RedisServer,
  type ServerHealth,
  slotTagOf,
  named,
} from '../../redis/index.js';
import { lockNames, type NameSearch } from '../lock-names.js';
import type { Snapshot } from '../lock-store.js';
import type { LockRequest } from '../lock-request.js';
import { extendArgs, leftOf } from '../extension.js';
import { isOne } from '../lock-steps.js';
import { exclusive } from '../native-scripts.js';
import { scripts as others, snapshotWithoutQueue } from '../snapshot.js';
import type { ServerEpoch } from '../server-epoch.js';
import acquire from './acquire.lua.js';
import force from './force.lua.js';
import release from './release.lua.js';
import revote from './revote.lua.js';
import settle from './settle.lua.js';

/** The scripts of one node of a quorum. */
export const scripts = named('quorum', {
  acquire: new LuaScript(acquire, 'batchable'),
  settle,
  release: new LuaScript(release, 'batchable'),
  extend: exclusive.extend, // votes are extended like locks on one server, since both values begin with the holder
  revote: new LuaScript(revote, 'batchable'),
  force,
});

/** Matches a node's vote: the holder, the attempt, and the first token. */
const VOTE = /^(.+)\/\d+\/(\d+)$/;

/** One attempt of a holder to win a majority. Commands of an earlier attempt cannot withdraw its votes. */
export interface Attempt {
  readonly request: LockRequest;
  readonly number: number;
  /** The first fencing token that the holder proposes, in µs of its clock. */
  readonly proposed: number;
}

/** A node's answer to an attempt. */
export interface Vote {
  readonly kind: 'held' | 'busy' | 'foreign';
  /** The node's clock, in µs. */
  readonly now: number;
  /** `held`: the first fencing token that the node gives; `busy`: the holder that has its vote; `foreign`: the type at the key. */
  readonly detail: number | string;
}

/** The steps on one server of a quorum, each atomic there. */
export class QuorumNode {
  readonly #keyLists: LockKeyLists;

  constructor(
    readonly server: RedisServer,
    private readonly prefix: string,
    /** The grace period of a server that may have forgotten votes: it does not vote until that period is over. */
    readonly epoch?: ServerEpoch | undefined,
  ) {
    // One fence per slot, although one node has all slots: tokens of other locks then seldom collide with a proposal.
    this.#keyLists = new LockKeyLists(prefix, slotTagOf);
  }

  slotOf(key: string): number {
    return this.server.slotOf(this.prefix + key);
  }

  names(search: NameSearch): Promise<string[]> {
    return lockNames(this.server, { type: 'string', prefix: this.prefix, suffix: '' }, search);
  }

  async health(within: number): Promise<ServerHealth> {
    const [found] = await this.server.health(this.prefix, within);
    return found!;
  }

  /** True unless the node is in its grace period. */
  get grants(): boolean {
    return !this.epoch || this.epoch.gracePeriod === 0;
  }

  /** Asks for the node's vote. Rejects if the command came too late to be trusted: the node has not voted then. */
  async acquire({ request, number, proposed }: Attempt, timeout: number): Promise<Vote> {
    const { key, holder, ttl, tokenBlock: tokens } = request;
    this.epoch?.check(key);
    const sent = momentOf(this.server.time);
    const lead = Math.round((this.server.timeout - timeout) * 1_000);
    const not_after = this.server.notAfter(sent.monotonic) - lead;
    const operands = { holder, attempt: number, ttl, tokens, proposed, not_after };
    return this.#run(scripts.acquire, key, operands, (reply, receivedAt) => {
      const [kind, now, detail] = reply as [Vote['kind'] | 'late', number, number | string];
      this.server.clock.learn(sent, receivedAt, now / 1_000);
      if (kind === 'busy') return { kind, now, detail: String(detail).replace(VOTE, '$1') };
      if (kind !== 'late') return { kind, now, detail };
      throw new LockStoreError(`Lock "${key}" was asked for too late.`, { key, outcome: 'unsent' });
    });
  }

  /** Resolves to false if the node votes for the attempt no more. */
  settle(
    { request: { key, holder, tokenBlock: tokens }, number }: Attempt,
    last: number,
  ): Promise<boolean> {
    return this.#run(scripts.settle, key, { holder, attempt: number, last, tokens }, isOne);
  }

  /** Withdraws the vote for one attempt. */
  takeBack({ request: { key, holder }, number }: Attempt): Promise<boolean> {
    return this.#run(scripts.release, key, { holder, attempt: number }, isOne);
  }

  release({ key, holder }: LockRequest, minHoldRest: number): Promise<boolean> {
    const rest = minHoldRest > 0 ? Math.ceil(minHoldRest) : undefined;
    return this.#run(scripts.release, key, { holder, attempt: '', keep: rest }, isOne);
  }

  /** Resolves to the ms left of each request; negative if the node does not vote for it. */
  extend(requests: readonly LockRequest[]): Promise<readonly number[]> {
    const { extend } = scripts;
    const asked = requests.map(({ ttl }) => ttl);
    return this.server.run({
      script: extend,
      keys: this.#keyLists.ofAll(extend.keys, requests),
      args: extendArgs(extend, requests),
      key: requests.length === 1 ? requests[0]!.key : undefined,
      read: (reply) => leftOf(reply, asked),
    });
  }

  /** Restores a vote that the node has forgotten. Resolves to false if it has not forgotten the vote, or the command came too late. */
  revote({ key, holder, ttl }: LockRequest): Promise<boolean> {
    const not_after = this.server.notAfter(this.server.time.monotonic());
    return this.#run(scripts.revote, key, { holder, ttl, not_after }, isOne);
  }

  /** Inspects this node's vote; the attempt is left out. */
  async inspect(key: string): Promise<Snapshot> {
    const snapshot = await this.#run(others.inspectString, key, {}, snapshotWithoutQueue);
    const [, holder = snapshot.holder, token] = VOTE.exec(snapshot.holder) ?? [];
    return { ...snapshot, holder, firstToken: Number(token) || undefined, foreign: undefined };
  }

  /** Resolves to the Redis type that was at the key; `another` if the vote was not for the holder `seen`. */
  force(key: string, seen?: string): Promise<string> {
    return this.#run(scripts.force, key, { seen }, String);
  }

  #run<Result>(
    script: LuaScript,
    key: string,
    operands: Operands,
    read: (reply: unknown, receivedAt: number) => Result,
  ): Promise<Result> {
    return this.server.run({
      script,
      keys: this.#keyLists.of(script.keys, key),
      args: script.argList(operands),
      key,
      read,
    });
  }
}
