// Routes under locks that answer by web streams, by a Response and by rows.
import { Controller, Get, Param, Res, UseInterceptors } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { Locked, LockedRequest, LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { Instead } from '../support/instead.js';
import { type GivenResponse, nodeResponse } from '../support/node-response.js';
import { wrapped } from '../support/wrapped.js';

/** How the answers of one test are sent. */
class Sending {
  work = new Gate();
  /** Opens when the second part is wanted. */
  wanted = new Gate();
  /** Node's own, of the last answer of rows. */
  response!: ServerResponse;

  /** For the next test. */
  reset(): void {
    Object.assign(this, new Sending());
  }
}

export const sending = new Sending();

/** A first part, and after `work` a last one. */
export function parts(): ReadableStream {
  let sent = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if ((sent += 1) === 1) return controller.enqueue(new TextEncoder().encode('first,'));
        sending.wanted.open();
        await sending.work.opened;
        controller.enqueue(new TextEncoder().encode('last'));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

@Controller()
export class Answers {
  constructor(private readonly locks: LockService) {}

  @Locked('body:<id>')
  @Get('response/:id')
  async response(@Param('id') _id: string): Promise<Response> {
    return new Response(parts());
  }

  @Get('response-wrapped/:id')
  @wrapped
  @Locked('body:<id>')
  async responseWrapped(@Param('id') _id: string): Promise<Response> {
    return new Response(parts());
  }

  @LockedRequest('body:<params.id>')
  @Get('response-of-request/:id')
  async responseOfRequest(): Promise<Response> {
    return new Response(parts());
  }

  @Locked('body:<id>')
  @Get('stream/:id')
  async stream(@Param('id') _id: string): Promise<ReadableStream> {
    return parts();
  }

  @LockedRequest('body:<params.id>')
  @Get('stream-of-request/:id')
  async streamOfRequest(): Promise<ReadableStream> {
    return parts();
  }

  @LockedRequest('outer:<params.id>')
  @LockedRequest('body:<params.id>')
  @Get('rows-of-request/:id')
  async *rowsOfRequest(
    @Param('id') id: string,
    @Res({ passthrough: true }) given?: GivenResponse,
  ): AsyncGenerator<string> {
    if (given) sending.response = nodeResponse(given);
    yield 'first,';
    sending.wanted.open();
    await sending.work.opened;
    yield* [this.locks.current(`body:${id}`), this.locks.current(`outer:${id}`)].map(
      (lease) => `${lease?.held},`,
    );
    yield 'last';
  }

  @Locked('body:<id>')
  @Get('empty/:id')
  async empty(@Param('id') _id: string): Promise<Response> {
    return new Response(null, { status: 204 });
  }
}

@UseInterceptors(Instead)
@Controller('instead')
export class Replaced extends Answers {}

/** The routes that send two parts. */
export const ROUTES = [
  'response',
  'response-wrapped',
  'response-of-request',
  'stream',
  'stream-of-request',
  'rows-of-request',
];
