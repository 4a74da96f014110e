import { afterEach } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Injectable,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { LockService } from '../../lib/index.js';
import { LockBoardModule, type LockBoardOptions } from '../../lib/watch/board/index.js';
import { BoardEvents } from '../support/board-events.js';
import { type NestBench, type Platform } from '../support/nest-app.js';

/** Lets in who says a word. */
@Injectable()
export class Secret implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest().headers.word === 'please';
  }
}

@Controller({ path: 'accounts', version: '1' })
class Accounts {
  @Get()
  accounts(): string[] {
    return [];
  }
}

interface Setting {
  readonly options?: LockBoardOptions;
  readonly imports?: any[];
  readonly providers?: any[];
  readonly settings?: object;
  /** Options of its `RedisLockModule`. */
  readonly module?: Parameters<NestBench['builder']>[1];
  readonly before?: (app: INestApplication) => void;
  /** By default: connections that clients open in advance, and for which a server waits. */
  readonly forceCloseConnections?: boolean;
  /** Lets Fastify speak HTTP/2, without TLS. */
  readonly http2?: true;
}

/** Applications with a board each and pages that watch it, all closed when their test ends, with what it adds to `closing`. */
export function useBoards(bench: NestBench) {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** An application with a board, and its URL. */
  async function start(
    platform: Platform,
    {
      options = { open: true, interval: 500 },
      imports = [],
      providers = [],
      settings = {},
      module: ofModule = {},
      before,
      forceCloseConnections = true,
      http2,
    }: Setting = {},
  ): Promise<{ app: INestApplication; url: string; board: string; locks: LockService }> {
    const board = LockBoardModule.forRoot(options);
    const parts = { imports: [board, ...imports], controllers: [Accounts], providers };
    const module = await bench.builder(parts, ofModule).compile();
    const adapter =
      platform === 'Express'
        ? new ExpressAdapter()
        : new FastifyAdapter({ forceCloseConnections, ...(http2 && { http2 }) });
    const app: INestApplication = module.createNestApplication(adapter, {
      logger: false,
      forceCloseConnections,
      ...settings,
    });
    before?.(app);
    await app.listen(0, '127.0.0.1');
    closing.push(() => app.close());
    const url = await app.getUrl();
    return { app, url, board: `${url}/locks`, locks: app.get(LockService) };
  }

  async function watch(board: string, headers: Record<string, string> = {}): Promise<BoardEvents> {
    const events = await BoardEvents.open(board, headers);
    closing.push(() => events.close());
    return events;
  }

  return { closing, start, watch };
}

export const rowOf = (rows: any[], key: string): any => rows.find((row) => row.key === key);

/** Asks a board to release a lock. */
export async function ask(
  board: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<[status: number, body: any]> {
  const answer = await fetch(`${board}/release`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return [answer.status, text.startsWith('{') ? JSON.parse(text) : text];
}
