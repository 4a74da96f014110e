// One replica of the benchmark: opens a variant, plays its part, tells what happened.
import './measure/sent-commands.js';
import { ADAPTERS, type BenchClient, IN_MEMORY } from './adapters/index.js';
import { kindOf } from './kinds/index.js';
import type { Order } from './worker.js';

let client: BenchClient | undefined;

async function obey(order: Order): Promise<unknown> {
  if (order.step === 'close') return client?.close();
  if (order.step === 'play') return kindOf(order.seat.workload).play(client!, order.seat);
  client = await [...ADAPTERS, ...IN_MEMORY]
    .find(({ name }) => name === order.adapter)!
    .open(order.servers);
  const release = await client.acquire(`bench:warm-up:${process.pid}`);
  return void (await release?.());
}

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  obey(order).then(
    (answer) => process.send!({ id, answer: answer ?? null }),
    (error: Error) => process.send!({ id, error: error.stack ?? String(error) }),
  );
});
process.once('disconnect', () => process.exit());
