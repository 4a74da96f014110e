// Routes under locks whose answers go on after their handlers: by the response itself, as files and as events.
import {
  Controller,
  Get,
  Param,
  Res,
  Sse,
  StreamableFile,
  type MessageEvent,
  UseInterceptors,
} from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { PassThrough } from 'node:stream';
import { finalize, from, interval, map, Observable } from 'rxjs';
import { Locked, LockedRequest } from '../../lib/index.js';
import type { Gate } from '../support/gate.js';
import { Instead } from '../support/instead.js';
import { nodeResponse } from '../support/node-response.js';
import { wrapped } from '../support/wrapped.js';

/** What a route hands out bit by bit, so that a test can look at the lock in between. */
class Ongoing {
  body!: PassThrough;
  response!: ServerResponse;
  answered!: Gate;
  unsubscribed!: Gate;
}

export const ongoing = new Ongoing();

@Controller()
export class Downloads {
  @Locked('own:<name>')
  @Get('own/:name')
  async own(@Param('name') _name: string, @Res() given: ServerResponse): Promise<void> {
    ongoing.response = nodeResponse(given);
    ongoing.response.write('first,');
    ongoing.answered.open();
  }

  @LockedRequest('own:<params.name>')
  @Get('own-request/:name')
  async ownRequest(@Param('name') _name: string, @Res() given: ServerResponse): Promise<void> {
    ongoing.response = nodeResponse(given);
    ongoing.response.write('first,');
    ongoing.answered.open();
  }

  @LockedRequest('own:<params.name>')
  @Get('own-wrapped/:name')
  @wrapped
  ownWrapped(@Param('name') name: string, @Res() given: ServerResponse): Promise<void> {
    return this.ownRequest(name, given);
  }

  @Locked('passthrough:<name>')
  @Get('passthrough/:name')
  async passthrough(
    @Param('name') name: string,
    @Res({ passthrough: true }) given: { header(name: string, value: string): void },
  ): Promise<string> {
    given.header('x-name', name);
    return name;
  }

  @Locked('failing:<name>')
  @Get('failing/:name')
  async failing(@Param('name') _name: string, @Res() _: ServerResponse): Promise<void> {
    throw new Error('before anything was sent');
  }

  @Locked('file:<name>')
  @Get('file/:name')
  async file(@Param('name') _name: string): Promise<StreamableFile> {
    return new StreamableFile(ongoing.body);
  }

  @LockedRequest('file:<params.name>')
  @Get('file-request/:name')
  async fileRequest(
    @Param('name') _name: string,
    @Res({ passthrough: true }) given?: ServerResponse,
  ): Promise<StreamableFile> {
    if (given) ongoing.response = nodeResponse(given);
    return new StreamableFile(ongoing.body);
  }

  @LockedRequest('slow:<params.name>', { ttl: 200, maxHold: 400 })
  @Get('slow/:name')
  async slow(@Param('name') _name: string): Promise<StreamableFile> {
    return new StreamableFile(ongoing.body);
  }

  @LockedRequest('a:<params.name>')
  @LockedRequest('b:<params.name>')
  @LockedRequest('c:<params.name>')
  @LockedRequest('d:<params.name>')
  @Get('file-of-four/:name')
  async fileOfFour(
    @Param('name') _name: string,
    @Res({ passthrough: true }) given: ServerResponse,
  ): Promise<StreamableFile> {
    ongoing.response = nodeResponse(given);
    return new StreamableFile(ongoing.body);
  }
}

@UseInterceptors(Instead)
@Controller()
export class Replaced {
  @LockedRequest('file:<params.name>')
  @Get('replaced/:name')
  async replaced(): Promise<StreamableFile> {
    return new StreamableFile(ongoing.body);
  }
}

/** Its handlers are bound, so what Nest calls has another name and no metadata. */
@LockedRequest('own:<params.name>')
@Controller('bound')
export class Bound {
  constructor() {
    this.whole = this.whole.bind(this);
    this.two = this.two.bind(this);
  }

  @Get('whole/:name')
  async whole(@Param('name') _name: string, @Res() given: ServerResponse): Promise<void> {
    ongoing.response = nodeResponse(given);
    ongoing.response.write('first,');
    ongoing.answered.open();
  }

  @LockedRequest('file:<params.name>')
  @Get('two/:name')
  async two(@Param('name') name: string, @Res() given: ServerResponse): Promise<void> {
    return this.whole(name, given);
  }
}

@Controller()
export class Events {
  @LockedRequest('few:<params.name>')
  @Sse('few/:name')
  few(@Param('name') name: string): Observable<MessageEvent> {
    return from(['a', 'b']).pipe(map((data) => ({ data: `${name}${data}` })));
  }

  @LockedRequest('endless:<params.name>')
  @Sse('endless/:name')
  endless(): Observable<MessageEvent> {
    return interval(5).pipe(
      map((data) => ({ data: String(data) })),
      finalize(() => ongoing.unsubscribed.open()),
    );
  }

  @Locked('wrapped:<name>')
  @Sse('wrapped/:name')
  wrapped(@Param('name') name: string): Observable<MessageEvent> {
    return from([{ data: name }]);
  }
}
