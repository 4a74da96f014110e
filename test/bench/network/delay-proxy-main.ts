// A network of its own process: everything that passes arrives later. Arguments: the server's port, the delay each way in ms.
import { connect, createServer, type Socket } from 'node:net';
import { monotonic } from '../measure/monotonic.js';

interface Parcel {
  readonly due: number;
  readonly to: Socket;
  /** Undefined: the other end has closed. */
  readonly bytes: Buffer | undefined;
}

const [port, delay] = process.argv.slice(2).map(Number) as [number, number];
const underWay: Parcel[] = [];
/** How late a timer may come, in ms: nearer to a parcel's time it is waited for without one. */
const TIMER_GRAIN = 2;

function post(to: Socket, bytes?: Buffer): void {
  underWay.push({ due: monotonic() + delay, to, bytes });
  if (underWay.length === 1) deliver();
}

/** All take equally long, so the first is always the next. */
function deliver(): void {
  let next = underWay[0];
  while (next && next.due <= monotonic()) {
    if (!next.bytes) next.to.destroySoon();
    else if (!next.to.destroyed) next.to.write(next.bytes);
    underWay.shift();
    next = underWay[0];
  }
  if (!next) return;
  const left = next.due - monotonic();
  if (left > TIMER_GRAIN) setTimeout(deliver, left - TIMER_GRAIN);
  else setImmediate(deliver);
}

const server = createServer((client) => {
  const upstream = connect(port, '127.0.0.1').setNoDelay(true);
  client.setNoDelay(true).on('data', (bytes) => post(upstream, bytes));
  upstream.on('data', (bytes) => post(client, bytes));
  for (const [end, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    end.on('error', () => {}).on('close', () => post(other));
  }
});
server.listen(0, '127.0.0.1', () => {
  process.send!((server.address() as { port: number }).port);
});
process.once('disconnect', () => process.exit());
