// Handlers with @Res() that write to Node's own response.
import { Controller, Get, Res } from '@nestjs/common';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Locked } from '../../lib/index.js';

@Controller()
export class Rows {
  @Locked('rows', { wait: '10m' })
  @Get('rows')
  async rows(@Res() reply: { readonly raw: Writable }): Promise<void> {
    await pipeline(Readable.from(['first', 'last']), reply.raw);
  }

  @Locked('rows', { wait: '10m' })
  @Get('row')
  async row(@Res() reply: { readonly raw: Writable }): Promise<void> {
    reply.raw.end('row');
  }
}
