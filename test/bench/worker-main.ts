// One replica of the benchmark: opens a variant, takes turns, tells what happened.
import { sentCommands } from './measure/sent-commands.js';
import { ADAPTERS, type BenchClient } from './adapters/index.js';
import { takeTurns, type Window } from './measure/take-turns.js';
import { monotonic } from './measure/turn.js';
import type { Order } from './worker.js';

let client: BenchClient | undefined;

async function obey(order: Order): Promise<unknown> {
  if (order.step === 'close') return client?.close();
  if (order.step === 'open') {
    client = await ADAPTERS.find(({ name }) => name === order.adapter)!.open(order.url);
    const release = await client.acquire(`bench:warm-up:${process.pid}`);
    await release?.();
    return undefined;
  }
  const before = commandsAt(order.window);
  const done = await takeTurns(client!, order.workload, order.firstCaller, order.window);
  return { ...done, commands: sentCommands() - (await before) };
}

/** How many commands had been sent when the window began to count. */
async function commandsAt({ from }: Window): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, from - monotonic())));
  return sentCommands();
}

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  obey(order).then(
    (answer) => process.send!({ id, answer: answer ?? null }),
    (error: Error) => process.send!({ id, error: error.stack ?? String(error) }),
  );
});
process.once('disconnect', () => process.exit());
