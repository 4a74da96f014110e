import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockOptionsError,
  LockStoreError,
  QuorumNotReachedError,
} from '../../lib/engine/errors/index.js';
import { Membership } from '../../lib/engine/locks/quorum/membership.js';
import type { RedisServer } from '../../lib/engine/redis/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { later } from '../support/later.js';
import { JoiningServer } from './joining-server.js';

const GRACE = 500;
const PAUSE = 1_000;

let clock: ManualClock;
let servers: JoiningServer[];
let membership: Membership;
let reconnected: number;
let opened: 'not yet' | 'yes' | 'no';
let opening: Promise<void>;

beforeEach(() => {
  clock = new ManualClock();
  reconnected = 0;
  opened = 'not yet';
  open();
});

describe('the start of a quorum', () => {
  it('is over when all have joined', async () => {
    for (const server of servers) server.succeed();
    await clock.advance(0);
    expect([opened, clock.pending]).toEqual(['yes', 0]);
  });

  it('waits for the last as long as half a second after a majority has joined', async () => {
    servers[0]!.succeed();
    await clock.advance(10 * GRACE);
    servers[2]!.succeed();
    await clock.advance(GRACE - 1);
    expect(opened).toBe('not yet');
    await clock.advance(1);
    expect(opened).toBe('yes');
  });

  it('waits no longer for the last of five where four join at once', async () => {
    open(['1', '2', '3', '4', '5']);
    for (const server of servers.slice(1)) server.succeed();
    await clock.advance(GRACE);
    expect([opened, clock.pending]).toEqual(['yes', 0]);
  });

  it('is over before that when the last has joined, and leaves no timer', async () => {
    servers[0]!.succeed();
    servers[2]!.succeed();
    await clock.advance(1);
    servers[1]!.succeed();
    await clock.advance(0);
    expect([opened, clock.pending]).toEqual(['yes', 0]);
  });

  it('is not undone by a server that turns out later to be unfit: it is tried again as any other', async () => {
    servers[0]!.succeed();
    servers[2]!.succeed();
    await clock.advance(GRACE);
    servers[1]!.fail(unfit());
    await clock.advance(PAUSE);
    servers[1]!.succeed();
    await clock.advance(0);
    expect([opened, servers[1]!.opens, reconnected]).toEqual(['yes', 2, 1]);
  });

  it('does not wait for who has failed, and tries it again each second until it joins', async () => {
    servers[1]!.fail(away());
    servers[0]!.succeed();
    servers[2]!.succeed();
    await clock.advance(0);
    expect(opened).toBe('yes');
    await clock.advance(PAUSE - 1);
    expect(servers[1]!.opens).toBe(1);
    await clock.advance(1);
    servers[1]!.fail(unfit());
    await clock.advance(PAUSE);
    expect([servers[1]!.opens, reconnected]).toEqual([3, 0]);
    servers[1]!.succeed();
    await clock.advance(10 * PAUSE);
    expect([servers[1]!.opens, reconnected, clock.pending]).toEqual([3, 1, 0]);
  });

  it('fails without a majority, says how many there were, and closes all', async () => {
    servers[0]!.succeed();
    servers[1]!.fail(away());
    servers[2]!.fail(away());
    await clock.advance(0);
    await expect(opening).rejects.toBeInstanceOf(QuorumNotReachedError);
    await expect(opening).rejects.toMatchObject({
      votes: { nodes: 3, granted: 1, denied: 0, failed: 2 },
    });
    expect(servers.map(({ closes }) => closes)).toEqual([1, 1, 1]);
    expect(clock.pending).toBe(0);
  });

  it('fails at once where a server can never be used', async () => {
    const error = unfit();
    servers[0]!.fail(error);
    await clock.advance(0);
    await expect(opening).rejects.toBe(error);
    expect(servers.map(({ closes }) => closes)).toEqual([1, 1, 1]);
  });

  it('refuses a server that is listed twice, and names it both times', async () => {
    open(['1', '2', '1']);
    for (const server of servers) server.succeed();
    await clock.advance(0);
    await expect(opening).rejects.toBeInstanceOf(LockOptionsError);
    await expect(opening).rejects.toThrow('Redis at host0 and Redis at host2 have the same run id');
  });

  it('takes servers that do not tell their run id for different ones', async () => {
    open([undefined, undefined, undefined]);
    for (const server of servers) server.succeed();
    await clock.advance(0);
    expect(opened).toBe('yes');
  });
});

describe('the end of a quorum', () => {
  it('tries no server again', async () => {
    servers[1]!.fail(away());
    servers[0]!.succeed();
    servers[2]!.succeed();
    await clock.advance(0);
    await membership.close();
    await clock.advance(10 * PAUSE);
    expect([servers[1]!.opens, clock.pending]).toEqual([1, 0]);
  });

  it('closes also who joins only then, once more', async () => {
    servers[0]!.succeed();
    servers[2]!.succeed();
    await clock.advance(GRACE);
    await membership.close();
    servers[1]!.succeed();
    await clock.advance(10 * PAUSE);
    expect(servers.map(({ closes }) => closes)).toEqual([1, 2, 1]);
  });
});

function open(ids: readonly (string | undefined)[] = ['1', '2', '3']): void {
  servers = ids.map((id, at) => new JoiningServer(id, `host${at}`));
  membership = new Membership(servers as unknown as RedisServer[], clock);
  opening = later(membership.open(() => void (reconnected += 1)));
  opening.then(
    () => (opened = 'yes'),
    () => (opened = 'no'),
  );
}

function away(): LockStoreError {
  return new LockStoreError('It is away.', { outcome: 'unsent' });
}

function unfit(): LockStoreError {
  return new LockStoreError('It is a replica.', { outcome: 'refused', retryable: false });
}
