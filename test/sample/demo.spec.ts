import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { isAlive, RunningSample } from './running-sample.js';

const DEMO = ['build/sample/demo/main.js', '--quick'];
const OWN_REDIS = { REDIS_URL: '' };

let somebodys: RedisProcess;
let redis: Redis;
beforeAll(async () => {
  RunningSample.build();
  somebodys = await RedisProcess.start();
  redis = new Redis(somebodys.url);
});
afterAll(async () => {
  redis.disconnect();
  await somebodys.stop();
});

function lostUpdates(output: string): { without: number; under: number } {
  const [, without, under] =
    /^Lost updates: ([\d,]+) without the lock, ([\d,]+) with it\.$/m.exec(output) ?? [];
  return {
    without: Number(without?.replaceAll(',', '')),
    under: Number(under?.replaceAll(',', '')),
  };
}

describe('the demo', () => {
  it('loses updates without the lock and none under it, also where one replica is killed', async () => {
    const demo = RunningSample.start(DEMO, OWN_REDIS);
    const code = await demo.exited;
    const { without, under } = lostUpdates(demo.output);
    expect(without).toBeGreaterThan(0);
    expect(under).toBe(0);
    const [, after] = /served again after ([\d,]+) ms \(ttl 3,000 ms\)/.exec(demo.output) ?? [];
    expect(Number(after?.replace(',', ''))).toBeLessThan(4_000);
    expect(code).toBe(0);
    // This is no terminal: plain lines, without the bar.
    expect(demo.output).toMatch(/^without the lock, one account +300 requests in [\d.]+ s$/m);
    expect(demo.output).not.toMatch(/[\r█]/);
  });

  it('ends with 1 where the lock is broken', async () => {
    const broken = new URL('./break-the-lock.mjs', import.meta.url).href;
    const demo = RunningSample.start(DEMO, { ...OWN_REDIS, NODE_OPTIONS: `--import=${broken}` });
    const code = await demo.exited;
    expect(lostUpdates(demo.output).under).toBeGreaterThan(0);
    expect(demo.output).toMatch(/^one account: under the lock \d+ updates were lost/m);
    expect(code).toBe(1);
  });

  it('leaves no process behind when it is interrupted', async () => {
    const demo = RunningSample.start(DEMO, OWN_REDIS);
    await demo.says(/without the lock, one account/);
    const { children } = demo;
    expect(children).toHaveLength(4); // three replicas, one redis-server
    demo.signal('SIGINT');
    expect(await demo.exited).toBe(130);
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('leaves nothing but what it found on the Redis of REDIS_URL', async () => {
    await redis.mset({ 'bank-demo:account:of-yesterday': '1', 'somebody:else': '2' });
    const demo = RunningSample.start(DEMO, { REDIS_URL: somebodys.url });
    await demo.says(/without the lock, one account/);
    expect(await redis.exists('bank-demo:account:of-yesterday')).toBe(0);
    demo.signal('SIGTERM');
    await demo.exited;
    expect(await redis.keys('*')).toEqual(['somebody:else']);
  });

  it('says in one sentence that the Redis of REDIS_URL cannot be used, and no password', async () => {
    const demo = RunningSample.start(DEMO, { REDIS_URL: 'redis://:geheim@127.0.0.1:1' });
    expect(await demo.exited).toBe(1);
    expect(demo.output).toBe(
      'The Redis of REDIS_URL cannot be used: start it, or unset REDIS_URL.\n',
    );
  });
});

describe('the bank', () => {
  it('opens a bank for curl, and closes it at Ctrl-C with an audit at work', async () => {
    const sample = RunningSample.start(['build/sample/main.js'], { ...OWN_REDIS, PORT: '0' });
    const [, url] = await sample.says(/curl (\S+)\/alice\/deposits -d amount=100\n/);
    const body = new URLSearchParams({ amount: '100' });
    const answer = await fetch(`${url}/alice/deposits`, { method: 'POST', body });
    expect(await answer.json()).toEqual({ balance: 100, bookings: 1 });

    const { children } = sample;
    const seconds = new URLSearchParams({ seconds: '60' });
    const audit = fetch(`${url}/alice/audits`, { method: 'POST', body: seconds });
    const outcome = audit.then(({ status }) => status).catch(() => 'cut off');
    await new Promise((resolve) => setTimeout(resolve, 100));
    sample.signal('SIGINT');
    expect(await outcome).toBe('cut off');
    expect(await sample.exited).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
  });
});

/** What each of the other samples says at the end, by its folder. */
const SAYS: Record<string, RegExp> = {
  transaction: /^@Locked above @Transactional: of 100, 10 were sold, 90 are left\.$/m,
  transfer: /^300 transfers, no deadlock\.\n[\d +]+ = 3000$/m,
  cache: /^In shared mode: 0 of \d+ readings saw half of a refresh\.$/m,
  reports: /^60 reports .*\nAt most 2 at a time for acme\.\nAt most 2 at a time for globex\.$/m,
  fencing: /^In the ledger: the total of the one who is awake\.$/m,
  leader: /^Three replicas; .*\n(A replica shut down; the next leads and pulls\.\n){2}/m,
  cron: /^With minHold, a second had so many digests: 1, 1, 1, 1/m,
  buffer: /12 orders came through, in their order\.$/m,
  quorum: /numbers, none twice, no gap\.$/m,
  graphql: /^LOCK_NOT_ACQUIRED: .*\nBoth know in the end: .*\nThe agency was asked 1 time\.$/m,
  microservice: /^LOCK_NOT_ACQUIRED: [^]*: 60 spent\.$/m,
  gateway: /^LOCK_NOT_ACQUIRED: .*\nBoth know in the end: let to (ann|bob)\.$/m,
  bullmq:
    /^A deploy after .* the account is held\.\n20 pages, under 1 fencing token\.\nThe balance on them: 0\.\n.* used 1 attempt\.$/m,
  postgres:
    /^The first goes on: No row was written[^]*\{ id: 2, shop: 'florist', amount: 180 \}\n\]$/m,
};

describe('the line of README.md', () => {
  it.each(Object.entries(SAYS))('%s', async (folder, said) => {
    const sample = RunningSample.start([`build/sample/${folder}/main.js`], OWN_REDIS);
    expect(await sample.exited).toBe(0);
    expect(sample.output).toMatch(said);
    expect(sample.children.filter(isAlive)).toEqual([]);
  });
});
