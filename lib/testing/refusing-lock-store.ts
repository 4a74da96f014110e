import { type Before, boundedLeases } from '../locks/before.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Answer, Extension, Lost, Signalled, Transferred } from '../locks/lock-store.js';
import { refuseUnsound, unsoundStep } from '../locks/quorum/unsound.js';
import type { Clock, ModuleSettings } from '../options/index.js';
import { MemoryLockStore } from './memory-lock-store.js';
import type { MemoryServer } from './memory-server.js';

/** Locks in memory that refuse what those of a module with the same `nodes` and `durability` refuse on Redis. */
export class RefusingLockStore extends MemoryLockStore {
  readonly #isQuorum: boolean;
  readonly #before: Before | undefined;

  constructor(server: MemoryServer, settings: ModuleSettings, clock: Clock) {
    super(server, settings, clock);
    this.#isQuorum = settings.nodes !== undefined;
    this.#before = settings.durability === 'refuse' ? boundedLeases(settings.call.ttl) : undefined;
  }

  override async acquire(request: LockRequest): Promise<Answer> {
    this.#before?.('acquire', request);
    if (this.#isQuorum) refuseUnsound(request);
    return super.acquire(request);
  }

  override async extend(requests: readonly LockRequest[]): Promise<Extension> {
    for (const request of requests) this.#before?.('extend', request);
    return super.extend(requests);
  }

  override async downgrade(request: LockRequest, token?: number): Promise<boolean> {
    this.#refuse('downgrade');
    return super.downgrade(request, token);
  }

  override async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    this.#refuse('transfer');
    this.#before?.('transfer', successor);
    return super.transfer(request, successor);
  }

  override async stamp(key: string): Promise<number | undefined> {
    this.#refuse('stamp');
    return super.stamp(key);
  }

  override async signal(
    request: LockRequest,
    condition: string,
    most: number,
  ): Promise<Signalled | Lost> {
    this.#refuse('signal');
    return super.signal(request, condition, most);
  }

  #refuse(step: Parameters<typeof unsoundStep>[0]): void {
    if (this.#isQuorum) throw unsoundStep(step);
  }
}
