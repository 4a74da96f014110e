import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The redis-server to start: REDIS_SERVER, else the one on the PATH, else installed where that needs no question (Debian, as root). */
export function findRedisServer(): string {
  const named = process.env['REDIS_SERVER'] ?? which('redis-server');
  if (named) return named;
  const install = ['tools/install-debian.mjs', 'redis-server'];
  spawnSync(process.execPath, install, { stdio: ['ignore', 'ignore', 'inherit'] });
  const installed = which('redis-server');
  if (installed) return installed;
  throw new Error(
    'There is no redis-server on the PATH: install it (apt-get install redis-server, brew install redis), or set REDIS_SERVER.',
  );
}

function which(command: string): string | undefined {
  try {
    return execFileSync('which', [command], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A free port on loopback. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

export interface RedisProcessOptions {
  /** More of redis.conf, as command-line arguments: `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A redis-server of our own on a free port of loopback; without persistence unless `args` ask for it. */
export class RedisProcess {
  #child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: RedisProcessOptions,
  ) {}

  static async start(options: RedisProcessOptions = {}): Promise<RedisProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-'));
    for (let tries = 5; ; tries -= 1) {
      const server = new RedisProcess(await freePort(), folder, options);
      try {
        await server.run();
        return server;
      } catch (error) {
        if (tries === 1) throw error; // else somebody may have taken the port meanwhile
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Starts the server, again after `kill`, on the same port and folder; resolves when it accepts connections. */
  async run(): Promise<void> {
    const child = spawn(
      findRedisServer(),
      `--port ${this.port} --bind 127.0.0.1 --dir ${this.folder} --save  --appendonly no --daemonize no`
        .split(' ')
        .concat(this.options.args ?? []),
      { stdio: 'ignore', env: { ...process.env, ...this.options.env } },
    );
    this.#child = child;
    process.once('exit', this.#onExit);
    while (!(await answers(this.port, child.pid!))) {
      if (child.exitCode !== null)
        throw new Error(`redis-server ended with ${child.exitCode} at its start.`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends the server without warning. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    process.off('exit', this.#onExit);
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  readonly #onExit = (): void => {
    this.#child?.kill('SIGKILL');
  };
}

/** Whether it is this process that answers there: somebody else may have taken the port meanwhile. */
function answers(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(500, () => socket.destroy());
    socket.once('connect', () => socket.write('PING\r\nINFO server\r\nQUIT\r\n'));
    socket.on('data', (data) => (said += data.toString()));
    socket.on('error', () => {});
    socket.once('close', () =>
      resolve(said.startsWith('+PONG') && said.includes(`process_id:${pid}\r\n`)),
    );
  });
}
