import type { Books } from './books.js';
import type { Replica } from './replica.js';
import type { Workload } from './workload.js';

/** How many clients each replica has; each waits for its answer before it asks again. */
const CLIENTS = 12;

export interface Traffic {
  readonly seconds: number;
  /** How long each request took, in ms, shortest first. */
  readonly waits: readonly number[];
  /** How many requests each replica answered. */
  readonly shares: readonly number[];
  /** Requests whose outcome is not known: neither done nor refused. */
  readonly failed: number;
}

/** Sends the requests of `workload` through all `replicas` at once, and writes what succeeded into `books`. */
export async function send(
  workload: Workload,
  root: string,
  replicas: readonly Replica[],
  books: Books,
  onAnswer: () => void,
): Promise<Traffic> {
  const waits: number[] = [];
  const shares = replicas.map(() => 0);
  let failed = 0;
  let left = workload.requests;

  async function client(replica: number): Promise<void> {
    while (left-- > 0) {
      const { path, body, changes } = workload.next();
      const asked = performance.now();
      const status = await answerOf(replicas[replica]!.post(`${root}/${path}`, body));
      waits.push(performance.now() - asked);
      shares[replica]! += 1;
      if (status < 400) books.confirm(changes);
      else if (status >= 500) failed += 1;
      onAnswer();
    }
  }

  const started = performance.now();
  const clients = replicas.flatMap((_, replica) => Array(CLIENTS).fill(replica) as number[]);
  await Promise.all(clients.map(client));
  const seconds = (performance.now() - started) / 1_000;
  return { seconds, waits: waits.sort((a, b) => a - b), shares, failed };
}

async function answerOf(request: Promise<Response>): Promise<number> {
  try {
    const response = await request;
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 503;
  }
}
