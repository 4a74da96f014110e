import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { context, trace } from '@opentelemetry/api';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import fc from 'fast-check';
import { Command, Redis } from 'ioredis';
import { tracingChannel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../lib/engine/options/index.js';
import { ForeignLockError } from '../../lib/engine/errors/index.js';
import { KeyList, named, type Operand } from '../../lib/engine/redis/index.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { bulk, decoded } from '../../lib/engine/redis/resp.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { readyClient, writesDuring } from './ready-client.js';
import { count, echo } from './small-scripts.js';

const TIMEOUT = 2_000;

let server: RedisProcess;
let client: Redis;
let connection: RedisConnection;

beforeAll(async () => {
  server = await RedisProcess.start();
});
afterAll(() => server.stop());

beforeEach(async () => {
  client = await readyClient(server.url);
  await client.flushall();
  connection = new RedisConnection(client, TIMEOUT, systemClock);
});
afterEach(() => connection.close());

describe('a command on the wire', () => {
  it('counts bytes, not characters', () => {
    expect(bulk('äß')).toBe('$4\r\näß\r\n');
    expect(bulk('🔒')).toBe('$4\r\n🔒\r\n');
    expect(bulk('')).toBe('$0\r\n\r\n');
    expect(bulk(1_795_300_040_809_884)).toBe('$16\r\n1795300040809884\r\n');
  });

  it('names the script by its hash, and counts its operands', () => {
    const encoded = (args: readonly Operand[]): string => {
      const run = { script: echo, keys: new KeyList(['k']), args, read: String };
      return echo.encoded([{ run }], false);
    };
    expect(encoded(['a', 1])).toBe(
      `*6\r\n$7\r\nevalsha\r\n$40\r\n${echo.sha}\r\n$1\r\n1\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\n1\r\n`,
    );
    expect(encoded([])).toMatch(/^\*4\r\n/);
  });

  it('says what is text in an answer, at any depth, and leaves the rest', () => {
    const reply = [Buffer.from('ä'), 7, null, [Buffer.from(''), [1]]];
    expect(decoded(reply)).toEqual(['ä', 7, null, ['', [1]]]);
    expect(decoded(null)).toBe(null);
  });
});

describe.each(['as ioredis spells commands', 'as we spell them'])('%s', (how) => {
  beforeEach(async () => {
    if (how === 'as we spell them') await connection.tryOut();
  });

  it('a script that the server does not know is sent as text', async () => {
    await client.script('FLUSH');
    await expect(runEcho('k', 'a')).resolves.toEqual(['k', 'a', ['none']]);
    await expect(runEcho('k', 'a', 'b')).resolves.toEqual(['k', 'a', ['b']]);
  });

  it('of many runs of a script that the server does not know, one is sent as text', async () => {
    await client.script('FLUSH');
    await client.config('RESETSTAT');
    const runs = Array.from({ length: 200 }, (_, nth) => runEcho('k', String(nth), 'b'));
    await expect(Promise.all(runs)).resolves.toEqual(
      Array.from({ length: 200 }, (_, nth) => ['k', String(nth), ['b']]),
    );
    const stats = await client.info('commandstats');
    expect(stats).toMatch(/^cmdstat_eval:calls=1,/m);
    expect(stats).toMatch(/^cmdstat_evalsha:calls=399,/m);
  });

  it('every key and every argument arrives as it was given', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('\r\n', '$3\r\nabc\r\n', '\0', '🔒', '', 'ä'.repeat(300)),
    );
    await fc.assert(
      fc.asyncProperty(text, text, fc.maxSafeNat(), async (key, first, second) => {
        const found = runEcho(key, first, second);
        await expect(found).resolves.toEqual([key, first, [String(second)]]);
      }),
      { numRuns: 200 },
    );
  });

  it('answers reach who asked, whatever is sent in the same turn', async () => {
    await runCount('warm');
    const answers = await Promise.all([
      runEcho('a', '1'),
      connection.send('set', ['x', 'y']),
      runEcho('b', '2'),
      connection.send('get', ['x']),
      runCount('n'),
      connection.send('nonsense').catch((error: Error) => error.name),
      runCount('n'),
    ]);
    expect(answers).toEqual([
      ['a', '1', ['none']],
      'OK',
      ['b', '2', ['none']],
      'y',
      1,
      'LockStoreError',
      2,
    ]);
  });

  it('what `read` throws is what the run rejects with', async () => {
    const read = (): never => {
      throw new ForeignLockError('n', 'list');
    };
    const run = connection.run({ script: count, keys: new KeyList(['n']), args: [], read });
    await expect(run).rejects.toThrow(ForeignLockError);
  });

  it('an error of the server rejects, and the next answer is right', async () => {
    await client.set('text', 'no number');
    await expect(runCount('text')).rejects.toMatchObject({ outcome: 'refused' });
    await expect(runCount('n')).resolves.toBe(1);
  });

  it('what is under way when the connection ends settles at once and is not sent again', async () => {
    await runCount('n');
    const again = once(client, 'ready');
    const from = performance.now();
    const runs = Promise.allSettled([1, 2, 3].map(() => runCount('gone')));
    client.disconnect(true);
    const answered = (await runs).filter(({ status }) => status === 'fulfilled').length;
    expect(performance.now() - from).toBeLessThan(TIMEOUT / 2);
    await again;
    await expect(runCount('gone')).resolves.toBe(answered + 1);
    await expect(runCount('n')).resolves.toBe(2);
  });

  it('works on after a reconnect', async () => {
    for (let round = 1; round <= 3; round += 1) {
      await expect(Promise.all([runCount('n'), runCount('m')])).resolves.toEqual([round, round]);
      client.disconnect(true);
      await once(client, 'ready');
    }
  });
});

describe('once commands are encoded by us', () => {
  /** The writes in which the commands of some ticks of one turn leave, so many of each. */
  async function writesOf(...ticks: readonly number[]): Promise<number[]> {
    await connection.tryOut();
    await runCount('n');
    await nextTurn();
    return commandsDuring(async () => {
      const runs: Promise<unknown>[] = [];
      for (const commands of ticks) {
        for (let at = 0; at < commands; at += 1) runs.push(runCount('n'));
        await new Promise<void>((resolve) => process.nextTick(resolve));
      }
      await Promise.all(runs);
    });
  }

  it('the first leaves at once, those behind it with their tick, and those of the rest of the turn together', async () => {
    await expect(writesOf(3, 1, 2)).resolves.toEqual([1, 2, 3]);
    await expect(client.get('n')).resolves.toBe('7');
  });

  it('of many, each write is as large as all before it', async () => {
    const writes = await writesOf(500);
    const before = (nth: number): number => writes.slice(0, nth).reduce((sum, n) => sum + n, 0);
    expect(before(writes.length)).toBe(500);
    writes.slice(2, -1).forEach((size, at) => expect(size).toBe(before(at + 2)));
    expect(writes.length).toBeLessThan(10);
  });
});

it('with an ioredis that is as expected, nothing falls back', async () => {
  await connection.tryOut();
  expect(connection.fallsBack).toBe(false);
});

describe('with an ioredis that is not as expected', () => {
  it('that spells every command itself, all works as ioredis does it', async () => {
    replaceSendCommand((command, original) => {
      const { name, args } = command;
      return original(
        new Command(name, args as Operand[], { replyEncoding: null }, (error, reply) => {
          if (error) command.reject(error);
          else command.resolve(reply);
        }),
      );
    });
    await connection.tryOut();
    await expect(runEcho('k', 'ä')).resolves.toEqual(['k', 'ä', ['none']]);
    expect(connection.fallsBack).toBe(true);
  });

  it('that answers commands in another way, all works as ioredis does it', async () => {
    replaceSendCommand((command, original) => {
      if (command.constructor !== Command) command.resolve = () => {};
      return original(command);
    });
    await connection.tryOut();
    await expect(runEcho('k', 'ä')).resolves.toEqual(['k', 'ä', ['none']]);
    expect(connection.fallsBack).toBe(true);
  });

  it('that refuses a command of ours, all works as ioredis does it', async () => {
    replaceSendCommand((command, original) => {
      if (command.constructor !== Command) throw new TypeError('no command');
      return original(command);
    });
    await connection.tryOut();
    await expect(runEcho('k', 'ä')).resolves.toEqual(['k', 'ä', ['none']]);
    expect(connection.fallsBack).toBe(true);
  });
});

describe('while something wraps the commands of ioredis', () => {
  it.each(['as we encode it', 'as ioredis does'])(
    'and throws, the command fails at once that was sent %s; the next one goes on',
    async (how) => {
      if (how === 'as we encode it') await connection.tryOut();
      replaceSendCommand(() => {
        throw new TypeError('a tracer failed');
      });
      await expect(runEcho('k', 'a')).rejects.toMatchObject({ outcome: 'unknown' });
      await expect(connection.send('time')).rejects.toMatchObject({ outcome: 'unknown' });
      Reflect.deleteProperty(client, 'sendCommand');
      await expect(runEcho('k', 'a')).resolves.toEqual(['k', 'a', ['none']]);
    },
  );

  it('and makes promises of its own, nobody else hears of a command that failed', async () => {
    await connection.tryOut();
    replaceSendCommand(async (command, original) => await original(command));
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.prependListener('unhandledRejection', listener);
    await client.set('n', 'no number');
    await expect(runCount('n')).rejects.toMatchObject({ outcome: 'refused' });
    await expect(connection.send('incr', ['n'])).rejects.toMatchObject({ outcome: 'refused' });
    await nextTurn();
    process.off('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
  });
});

describe('while somebody listens to ioredis’ own channel', () => {
  type Traced = Readonly<Record<'command' | 'args', unknown>>;
  /** Runs the script three times, and says what of it began and ended there. */
  async function traced(): Promise<{ begun: Traced[]; ended: Traced[] }> {
    const [begun, ended]: [Traced[], Traced[]] = [[], []];
    const subscribers = {
      start: (command: unknown) => void begun.push(command as Traced),
      asyncEnd: (command: unknown) => void ended.push(command as Traced),
    };
    const commands = tracingChannel('ioredis:command');
    commands.subscribe(subscribers as never);
    try {
      await runEcho('k', 'a');
      await Promise.all([runEcho('secret', 'a'), runEcho('secret', 'b')]);
      await nextTurn();
    } finally {
      commands.unsubscribe(subscribers as never);
    }
    return { begun, ended };
  }

  it.each(['as ioredis does', 'as we encode it'])(
    'each command that is sent %s begins and ends there',
    async (how) => {
      if (how === 'as we encode it') await connection.tryOut();
      const { begun, ended } = await traced();
      expect(begun.filter(({ command }) => command === 'evalsha')).toHaveLength(3);
      expect(ended).toEqual(begun);
    },
  );

  it.each([
    ['alone', false],
    ['together', true],
  ])(
    'commands of ours that leave %s show the name of their script, and no key',
    async (_, merges) => {
      await connection.tryOut(merges);
      named('test', { echo });
      const { begun } = await traced();
      expect(begun.map(({ command, args }) => [command, String(args)])).toEqual(
        begun.map(() => [expect.stringMatching(/^eval(sha)?$/), `${echo.sha},test.echo`]),
      );
      expect(begun.length).toBeGreaterThan(0);
    },
  );
});

describe('while instrumentation of OpenTelemetry wraps the commands of ioredis', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const instrumentation = new IORedisInstrumentation();
  const [definition] = [instrumentation.init()].flat();

  beforeAll(() => {
    provider.register();
    instrumentation.setTracerProvider(provider);
    definition!.patch!(Redis, '6.0.0');
  });

  afterAll(async () => {
    definition!.unpatch!(Redis, '6.0.0');
    trace.disable();
    context.disable();
    await provider.shutdown();
  });

  it.each(['before', 'within'])(
    'every answer arrives where it was connected %s a span',
    async (when) => {
      if (when === 'before') await connection.tryOut(true);
      const answers = provider.getTracer('test').startActiveSpan('request', async (span) => {
        if (when === 'within') await connection.tryOut(true);
        const runs = Promise.all([runEcho('k', 'a'), runCount('n'), connection.send('get', ['x'])]);
        return runs.finally(() => span.end());
      });
      expect(await answers).toEqual([['k', 'a', ['none']], 1, null]);
      expect(connection.fallsBack).toBe(false);
      expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(
        expect.arrayContaining(['evalsha', 'get', 'request']),
      );
      exporter.reset();
    },
  );
});

function runEcho(key: string, ...args: Operand[]): Promise<unknown> {
  return connection.run({
    script: echo,
    keys: new KeyList([key]),
    args,
    read: (reply) => reply,
  });
}

function runCount(key: string): Promise<number> {
  return connection.run({
    script: count,
    keys: new KeyList([key]),
    args: [],
    read: (reply) => reply as number,
  });
}

/** How many commands are in each write to the socket while `work` runs. */
async function commandsDuring(work: () => Promise<unknown>): Promise<number[]> {
  const writes = await writesDuring(client, work);
  return writes.map((text) => text.split('evalsha').length - 1);
}

/** An ioredis of another version: what it does with commands is replaced, where they are written is not. */
function replaceSendCommand(
  send: (command: Command, original: (command: Command) => unknown) => unknown,
) {
  const original = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => send(command, (as) => original(as, stream));
}
