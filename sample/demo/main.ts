import { Redis } from 'ioredis';
import { once } from 'node:events';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { KEY_PREFIX } from '../redis/redis.module.js';
import { killInTheMiddle } from './crash.js';
import { Replica } from './replica.js';
import { crashReport, summary, table } from './report.js';
import { runTrial, type Trial } from './trial.js';
import { complaintsAboutCrash, complaintsAboutTrial } from './verdict.js';
import { Workload } from './workload.js';

const quick = process.argv.includes('--quick');
const WORKLOADS = quick
  ? [new Workload('one account', 300, 20, true), new Workload('20 accounts', 900, 20, false)]
  : [new Workload('one account', 1_000, 20, true), new Workload('100 accounts', 4_000, 100, false)];

const interruption = interrupted();
const server = await redisForSamples();
const redis = new Redis(server.url, { keyPrefix: KEY_PREFIX });
const replicas = [1, 2, 3].map(() => new Replica(server.url));

async function demo(): Promise<number> {
  await Promise.all(replicas.map((replica) => replica.ready()));
  const pids = replicas.map(({ pid }) => pid).join(', ');
  console.log(`Three replicas of a bank (pids ${pids}) on ${server.description}.\n`);

  const trials: Trial[] = [];
  for (const locked of [false, true]) {
    for (const workload of WORKLOADS) {
      trials.push(await runTrial(workload, locked, replicas, redis));
    }
  }
  console.log(`\n${table(trials)}\n\n${summary(trials)}`);
  const kept = say(trials.flatMap(complaintsAboutTrial));

  const [victim, survivor] = replicas as [Replica, Replica, Replica];
  console.log(`Now kill -9 ${victim.pid} in the middle of a locked request.`);
  const crash = await killInTheMiddle(victim, survivor);
  console.log(crashReport(crash));
  return say(complaintsAboutCrash(crash)) && kept ? 0 : 1;
}

/** True if there was nothing to say. */
function say(complaints: readonly string[]): boolean {
  for (const complaint of complaints) console.error(complaint);
  return complaints.length === 0;
}

async function interrupted(): Promise<number> {
  await Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)));
  return 130;
}

function failed(error: Error): number {
  console.error(error.message);
  return 1;
}

const code = await Promise.race([demo(), interruption]).catch(failed);
await Promise.all(replicas.map((replica) => replica.kill()));
redis.disconnect();
await server.close().catch(failed);
process.exit(code);
