import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from '../../tools/redis-server.js';

/** A wall clock for a server of our own that can be set while it runs. */
export class SteppedClock {
  #ahead = 0;

  private constructor(private readonly folder: string) {
    writeFileSync(this.#file, Buffer.alloc(8));
  }

  /** None where gcc is missing, or where this program has the C library inside: Valkey 9.0 of PyPI. */
  static make(program = findRedisServer()): SteppedClock | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-clock-'));
    try {
      execFileSync('ldd', [program], { stdio: 'ignore' });
      const library = join(folder, 'shim.so');
      execFileSync('gcc', ['-shared', '-fPIC', '-o', library, 'test/support/clock-shim.c'], {
        stdio: 'ignore',
      });
      return new SteppedClock(folder);
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
  }

  /** What the server is started with. */
  get env(): NodeJS.ProcessEnv {
    return { LD_PRELOAD: join(this.folder, 'shim.so'), CLOCK_OFFSET_FILE: this.#file };
  }

  /** The clock is set by `ms` from what it shows. */
  step(ms: number): void {
    this.set(this.#ahead + Math.round(ms));
  }

  /** From now on the clock runs `ms` ahead of the machine's, or behind it. */
  set(ms: number): void {
    this.#ahead = ms;
    const offset = Buffer.alloc(8);
    offset.writeBigInt64LE(BigInt(ms) * 1_000n);
    writeFileSync(this.#file, offset, { flag: 'r+' });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.folder, 'offset');
  }
}
