import { Redis } from 'ioredis';
import { type Adapter, RAW, type Servers } from './adapters/index.js';
import type { Effort } from './effort.js';
import type { Fleet } from './fleet.js';
import { kindOf } from './kinds/index.js';
import type { Figures } from './measure/figures.js';
import { monotonic } from './measure/monotonic.js';
import type { Patience } from './measure/patience.js';
import { serverLoadFrom } from './measure/server-load.js';
import { at } from './measure/window.js';
import type { TurnsWorkload, Workload } from './workloads/workload.js';

/** The servers, as the bench and as the replicas reach them. */
export interface Site {
  readonly fleet: Fleet;
  readonly patience: Patience;
  /** Where the locks are, unless several servers vote on them. */
  readonly url: string;
  /** Those that vote beside it. */
  readonly others: readonly string[];
  /** Stops some of these servers, by their URLs; returns how they go on. */
  readonly hang: (urls: readonly string[]) => () => void;
  /** Of the replicas, where something stands between. */
  readonly replicaUrl?: string;
}

/** What one variant did: its figures of each round, or why there are none. */
export interface Series {
  readonly adapter: Adapter;
  readonly rounds: Figures[];
  refused?: string | undefined;
}

/** All variants on one workload, and the floor it is compared with. */
export interface Rounds {
  readonly series: readonly Series[];
  readonly floor: readonly Figures[];
}

/** Lets all variants take turns within every round, every second round in the opposite order. */
export async function measure(
  workload: Workload,
  adapters: readonly Adapter[],
  site: Site,
  effort: Effort,
): Promise<Rounds> {
  const kind = kindOf(workload);
  const floorWorkload = workload.kind === 'turns' ? workload.floor : undefined;
  const series: Series[] = adapters.map((adapter) => ({
    adapter,
    rounds: [],
    refused: kind.refuses(workload, adapter),
  }));
  const floor: Figures[] = [];
  if (effort.practice !== undefined && !kind.long && !isCold(workload)) {
    const practice = { ...effort, warmUp: 0, window: effort.practice };
    for (const { adapter, refused } of series) {
      if (refused === undefined) await once(workload, adapter, site, practice).catch(() => {}); // its rounds will tell
    }
  }
  const { rounds = Infinity } = workload;
  const enough = Math.min(rounds, kind.long ? effort.longRounds : effort.rounds);
  for (let round = 0; round < enough; round += 1) {
    for (const one of round % 2 === 0 ? series : series.toReversed()) {
      if (one.refused !== undefined) continue;
      try {
        one.rounds.push(await undisturbed(workload, one.adapter, site, effort));
      } catch (error) {
        one.refused = (error as Error).message.split('\n')[0]!;
      }
    }
    if (floorWorkload) floor.push(await undisturbed(floorWorkload, RAW[6], site, effort));
    process.stderr.write('.');
  }
  return { series, floor };
}

async function undisturbed(
  workload: Workload,
  adapter: Adapter,
  site: Site,
  effort: Effort,
): Promise<Figures> {
  const attempt = (): Promise<Figures> =>
    workload.kind === 'turns' && workload.hanging
      ? besideHealthy(workload, adapter, site, effort)
      : once(workload, adapter, site, effort);
  const { result, others } = await site.patience.undisturbed(attempt);
  return { ...result, others };
}

/** With all servers running, then with some that hang; and what that costs an acquisition. */
async function besideHealthy(
  workload: TurnsWorkload,
  adapter: Adapter,
  site: Site,
  effort: Effort,
): Promise<Figures> {
  const healthy = await once({ ...workload, hanging: 0 }, adapter, site, effort);
  const figures = await once(workload, adapter, site, effort);
  const healthyP50 = healthy['acquireP50']!;
  return { ...figures, healthyP50, toHealthy: figures['acquireP50']! / healthyP50 };
}

async function once(
  workload: Workload,
  adapter: Adapter,
  { fleet, url, others, hang, replicaUrl = url }: Site,
  effort: Effort,
): Promise<Figures> {
  const voting = others.slice(0, (workload.servers ?? 1) - 1);
  const servers = [url, ...voting].map((each) => new Redis(each));
  await Promise.all(servers.map((server) => server.flushall()));
  const kind = kindOf(workload);
  const replicas = fleet.take(workload.processes, adapter.ioredis, isCold(workload));
  const locked: Servers = [replicaUrl, ...voting];
  const hanging =
    workload.kind === 'turns' && workload.hanging ? voting.slice(-workload.hanging) : [];
  let unfinished = true;
  let thaw = (): void => {};
  try {
    await Promise.all(replicas.map((worker) => worker.open(adapter.name, locked)));
    const start = monotonic() + 20;
    const { warmUp, window } = kind.timing(workload, effort);
    const span = { start, from: start + warmUp, until: start + warmUp + window };
    thaw = hang(hanging);
    void at(span.until).then(thaw); // who waits for all servers comes to an end
    const [serverLoad, ...parts] = await Promise.all([
      serverLoadFrom(servers, span.from),
      ...replicas.map((worker, index) =>
        worker.play({ workload, index, window: span, url: replicaUrl }),
      ),
    ]);
    const worked = await serverLoad();
    unfinished = parts.some((part) => part.unfinished > 0);
    if (!unfinished) await Promise.all(replicas.map((worker) => worker.close()));
    return kind.figures(workload, parts, span, worked);
  } finally {
    thaw();
    if (unfinished || isCold(workload)) fleet.retire(replicas);
    for (const server of servers) server.disconnect();
  }
}

/** Whether each round has processes of its own. */
function isCold(workload: Workload): boolean {
  return workload.kind === 'turns' && workload.cold !== undefined;
}
