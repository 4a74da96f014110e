import { RedisProcess, serverVersion } from '../../tools/redis-server.js';
import { closing } from '../support/closing.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';

/** A Redis that two processes lock on, through a proxy and as the user `app`, and that gets into trouble. */
export class TroubledServer {
  private constructor(
    readonly url: string,
    readonly observer: Observer,
    readonly proxy: FaultProxy,
    readonly mine: LockProcess,
    readonly theirs: LockProcess,
  ) {}

  static async start(): Promise<TroubledServer> {
    const redis = await RedisProcess.start({ args: ['--lua-time-limit', '20'] });
    closing.push(() => redis.stop());
    const proxy = await FaultProxy.before(redis.port);
    closing.push(() => proxy.close());
    const observer = new Observer(redis.url);
    closing.push(() => observer.close());
    await observer.redis.call(
      ...(['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all'] as const),
    );
    const options = { commandTimeout: 1_000, ttl: 30_000 };
    const url = proxy.url.replace('//', '//app:secret@');
    const mine = new LockProcess({ ...options, redis: url });
    const theirs = new LockProcess({ ...options, redis: url });
    closing.push(() => Promise.all([mine.close(), theirs.close()]));
    await Promise.all([mine.locks.open(), theirs.locks.open()]);
    return new TroubledServer(redis.url, observer, proxy, mine, theirs);
  }

  config(name: string, value: string): Promise<unknown> {
    return this.observer.redis.config('SET', name, value);
  }
}

/** Before 6.2.7, scripts wrote all the same: the start says so, see test/unit/durability-options.spec.ts. */
const [major, minor, patch] = serverVersion();
const stopsScripts = major > 6 || (minor >= 2 && patch >= 7);

/** Each brings the trouble about and returns how to end it. */
export const troubles: Record<string, (server: TroubledServer) => Promise<() => unknown>> = {
  OOM: async (server) => {
    await server.config('maxmemory', '1');
    return () => server.config('maxmemory', '0');
  },
  ...(stopsScripts && {
    NOREPLICAS: async (server: TroubledServer) => {
      await server.config('min-replicas-to-write', '1');
      return () => server.config('min-replicas-to-write', '0');
    },
  }),
  BUSY: hangServer,
  LOADING: async ({ proxy }) => {
    proxy.fate = (words) =>
      words[0]!.startsWith('eval') ? '-LOADING Redis is loading the dataset in memory' : 'pass';
    return () => proxy.heal();
  },
  MISCONF: async ({ proxy }) => {
    proxy.fate = (words) =>
      words[0]!.startsWith('eval') ? '-MISCONF Redis is configured to save RDB snapshots' : 'pass';
    return () => proxy.heal();
  },
};

/** A script of somebody else that holds up the server until it is killed. */
async function hangServer({ url, observer }: TroubledServer): Promise<() => Promise<unknown>> {
  const foreign = new Observer(url);
  const hanging = foreign.redis.eval('while true do end', 0).catch(() => {});
  await until('the server is busy', async () => {
    return observer.redis.ping().then(
      () => false,
      (error: Error) => error.message.startsWith('BUSY'),
    );
  });
  return async () => {
    await observer.redis.script('KILL');
    await hanging;
    foreign.close();
  };
}
