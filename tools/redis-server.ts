import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './children.js';

/** What was found on the PATH: each look is a process. */
const found = new Map<string, string>();

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
    const path =
      found.get(command) ?? execFileSync('which', [command], { encoding: 'utf8' }).trim();
    if (path) found.set(command, path);
    return path || undefined;
  } catch {
    return undefined;
  }
}

/** The version of the redis-server to start. Each Valkey, from 7.2 on, has what Redis 7 has. */
export function serverVersion(): [major: number, minor: number, patch: number] {
  const said = execFileSync(findRedisServer(), ['--version'], { encoding: 'utf8' });
  const [, major, minor, patch] = / v=(\d+)\.(\d+)\.(\d+)/.exec(said)!;
  return [Number(major), Number(minor), Number(patch)];
}

export function majorVersion(): number {
  return serverVersion()[0];
}

/** A free port of loopback, below those that kernels give to connections: it stays free while its server is down. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens on a port of loopback. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

export interface RedisProcessOptions {
  /** More of redis.conf, as command-line arguments: `['--maxmemory', '10mb']`; made anew for each port that is tried. */
  readonly args?: readonly string[] | (() => Promise<readonly string[]>);
  readonly env?: NodeJS.ProcessEnv;
  /** Finds a port, again for each that is tried; any that is free if nothing is said. */
  readonly port?: () => Promise<number>;
  /** What it watches, if it is to be a Sentinel: lines of sentinel.conf, which it writes on itself. */
  readonly sentinel?: readonly string[];
}

/** How long a server may take to accept connections, in ms. */
const START = 30_000;

/** Somebody else has one of the ports. */
class PortTakenError extends Error {}

/** A redis-server of our own on a free port of loopback; without persistence unless `args` ask for it. */
export class RedisProcess {
  #child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    readonly port: number,
    private readonly folder: string,
    private readonly args: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async start({
    args = [],
    env = {},
    port = freePort,
    sentinel,
  }: RedisProcessOptions = {}): Promise<RedisProcess> {
    const program = findRedisServer();
    const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-'));
    for (let tries = 5; ; tries -= 1) {
      const more = typeof args === 'function' ? await args() : args;
      const server = new RedisProcess(program, await port(), folder, more, env);
      if (sentinel) writeFileSync(server.#sentinelFile, `${sentinel.join('\n')}\n`);
      try {
        await server.run();
        return server;
      } catch (error) {
        if (error instanceof PortTakenError && tries > 1) continue;
        await server.stop();
        throw error;
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
    const log = openSync(this.#log, 'w');
    const args =
      `--port ${this.port} --bind 127.0.0.1 --dir ${this.folder} --save  --appendonly no --daemonize no`
        .split(' ')
        .concat(this.args);
    const child = startChild(
      this.program,
      existsSync(this.#sentinelFile) ? [this.#sentinelFile, ...args, '--sentinel'] : args,
      { stdio: ['ignore', log, log], env: { ...process.env, ...this.env } },
    );
    closeSync(log);
    this.#child = child;
    try {
      await this.#answers(child);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  async #answers(child: ChildProcess): Promise<void> {
    let ended: string | undefined;
    child.once('error', ({ message }) => (ended = message));
    child.once('exit', (code, signal) => (ended ??= `it ended with ${code ?? signal}`));
    const late = performance.now() + START;
    for (;;) {
      const pid = await answering(this.port);
      if (pid !== undefined && pid === child.pid) return;
      if (ended !== undefined) throw this.#failure(ended);
      if (performance.now() > late) {
        const other = `process ${pid} answers on port ${this.port}, not ${child.pid}: a wrapper has to exec the server`;
        throw this.#failure(pid ? other : `it does not answer within ${START} ms`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #failure(what: string): Error {
    const said = readFileSync(this.#log, 'utf8').trim();
    const message = `${this.program} did not start: ${what}.\n${said.split('\n').slice(-5).join('\n')}`;
    return said.includes('Address already in use')
      ? new PortTakenError(message)
      : new Error(message);
  }

  /** What the server says. */
  get #log(): string {
    return join(this.folder, 'log');
  }

  get #sentinelFile(): string {
    return join(this.folder, 'sentinel.conf');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends the server without warning. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The process that answers on a port: it may be another than ours, which took the port meanwhile. */
function answering(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    let said = '';
    let pid: number | undefined;
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(500, () => socket.destroy());
    socket.once('connect', () => socket.write('PING\r\nINFO server\r\n'));
    socket.on('data', (data) => {
      said += data.toString();
      const found = /^\+PONG\r\n[^]*\bprocess_id:(\d+)\r\n/.exec(said);
      if (!found) return;
      pid = Number(found[1]);
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(pid));
  });
}
