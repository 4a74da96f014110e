import { Injectable } from '@nestjs/common';
import { CurrentLease, Lease, Locked, LockService } from '../../lib/index.js';

/** Exports whose rows come one by one, each export under its lock, and how many have begun and ended. */
@Injectable()
export class Exports {
  started = 0;
  ended = 0;

  constructor(readonly locks: LockService) {}

  @Locked('export:<of>')
  async *rows(of: string, count: number, @CurrentLease() lease?: Lease): AsyncGenerator<string> {
    this.started += 1;
    try {
      for (let row = 0; row < count; row += 1) {
        yield `${of}${row} ${lease!.held} ${this.locks.current()?.key}`;
      }
    } finally {
      this.ended += 1;
    }
  }

  @Locked('export:<of>')
  async *broken(of: string): AsyncGenerator<string> {
    yield of;
    throw new RangeError('broken');
  }

  @Locked('export:busy', { wait: 0, onBusy: () => twice('busy') })
  async *instead(): AsyncGenerator<string> {
    yield 'ran';
  }

  @Locked('export:busy', { wait: 0 })
  async *busy(): AsyncGenerator<string> {
    yield 'ran';
  }

  @Locked('export:hidden')
  async hidden(): Promise<AsyncIterable<string>> {
    return this.rows('hidden', 1);
  }

  @Locked('export:said', { returns: 'iterable' })
  said(@CurrentLease() lease?: Lease): AsyncIterable<string> {
    return this.rows(`${lease!.held} `, 1);
  }
}

async function* twice(value: string): AsyncGenerator<string> {
  yield value;
  yield value;
}
