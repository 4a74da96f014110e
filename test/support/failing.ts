import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  LeaseLostError,
  LockLimitError,
  LockNotAcquiredError,
  type LockService,
  LockStoreError,
  StaleFencingTokenError,
} from '../../lib/index.js';
import { memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';

/** In the key of every lock that a test of answers takes: no client may see it. */
export const SECRET = 'customer-4711';
const TOKEN = 987_654_321;

/** What a handler of a test throws, by the name that its client sends. */
export const FAILURES: Record<string, () => Error> = {
  thrown: () => new LockNotAcquiredError(SECRET, 5),
  permits: () => new LockNotAcquiredError(SECRET, 5, 5, 3),
  store: () => new LockStoreError(`Redis failed for ${SECRET}`, { key: SECRET }),
  limit: () => new LockLimitError(SECRET, 'leases', 1),
  lost: () => new LeaseLostError(SECRET, 'expired'),
  stale: () => new StaleFencingTokenError(SECRET, TOKEN, TOKEN + 1, SECRET),
};

/** The status and the code that a failure is answered with, and after how many seconds to try again. */
export const ANSWERS: readonly (readonly [string, number, string, number | undefined])[] = [
  ['busy', 409, 'LOCK_NOT_ACQUIRED', 1],
  ['thrown', 409, 'LOCK_NOT_ACQUIRED', 1],
  ['permits', 429, 'LOCK_NOT_ACQUIRED', 1],
  ['store', 503, 'LOCK_STORE', 1],
  ['limit', 503, 'LOCK_LIMIT', 1],
  ['lost', 500, 'LEASE_LOST', undefined],
  ['stale', 500, 'STALE_FENCING_TOKEN', undefined],
];

/** Throws the failure of that name; anything else ends well. */
export function fail(kind: string): void {
  const failure = FAILURES[kind];
  if (failure) throw failure();
}

/** Whatever a client has received: no key, token, holder or stack is anywhere in it. */
export function expectPublic(received: unknown): void {
  const text = typeof received === 'string' ? received : JSON.stringify(received);
  for (const secret of [SECRET, encodeURIComponent(SECRET), String(TOKEN), ...holders]) {
    expect(text).not.toContain(secret);
  }
  expect(text).not.toMatch(/\n? {4}at |node_modules|file:\/\/|\.ts:\d/);
}

const holders: string[] = [];

export interface LogLine {
  readonly level: 'error' | 'warn';
  readonly text: string;
}

/** Where the handlers of a test lock, what Nest logs during each test, and who is in their way. */
interface Failing {
  readonly server: MemoryServer;
  readonly log: { readonly lines: readonly LogLine[]; clear(): void };
  readonly rival: LockService;
}

/** What tests of answers share: `account:${SECRET}` is taken while they run. */
export function failing(): Failing {
  const server = new MemoryServer();
  const log = listenToLog();
  let rival: LockService;
  beforeAll(async () => {
    rival = await startRival(server, `account:${SECRET}`);
  });
  afterEach(() => log.clear());
  afterAll(async () => {
    await rival.onApplicationShutdown();
  });
  return {
    server,
    log,
    get rival() {
      return rival;
    },
  };
}

/** Another replica, which holds what the handlers of a test want. */
async function startRival(server: MemoryServer, key: string): Promise<LockService> {
  const rival = memoryLockService({ server });
  await rival.onModuleInit();
  await rival.acquire(key, { ttl: '10m' });
  const { holder } = await rival.inspect(key);
  holders.push(
    ...Object.values(holder ?? {})
      .filter((value) => String(value).length > 8)
      .map(String),
  );
  return rival;
}

/** All that goes to Nest's Logger while the tests of a file run, whoever says it. */
function listenToLog(): { readonly lines: LogLine[]; clear(): void } {
  const lines: LogLine[] = [];
  beforeAll(() => {
    for (const level of ['error', 'warn'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation((message: unknown) => {
        lines.push({ level, text: message instanceof Error ? message.message : String(message) });
      });
    }
  });
  afterAll(() => void jest.restoreAllMocks());
  return { lines, clear: () => lines.splice(0) };
}

/** A failure of the server is in the log once, with the key; what a client can mend is not. */
export function expectLogged(lines: readonly LogLine[], status: number): void {
  expect(lines).toEqual(
    status >= 500 ? [{ level: 'error', text: expect.stringContaining(SECRET) }] : [],
  );
}
