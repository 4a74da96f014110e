import { expect, it } from '@jest/globals';
import { Body, Controller, Get, Headers, Param, Post, Query, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
} from '@nestjs/swagger';
import { CurrentLease, Lease, Locked, LockedRequest } from '../../lib/index.js';
import { useBench } from '../support/nest-app.js';

const bench = useBench();

const nothing: MethodDecorator = () => {};

const locked = Locked('account:<id>') as MethodDecorator;
const lockedRequest = LockedRequest('account:<params.id>') as MethodDecorator;

it.each([
  ['above the route', locked, nothing],
  ['below the route', nothing, locked],
  ['as @LockedRequest', lockedRequest, nothing],
  ['above and below', locked, lockedRequest],
])('the OpenAPI document is the same with a lock %s', async (_, above, below) => {
  const document = await documentOf(controller(above, below));
  expect(document).toEqual(await documentOf(controller(nothing, nothing)));
  expect(JSON.stringify(document)).toContain('"summary":"moves money"');
  expect(JSON.stringify(document)).toContain('"x-tenant"');
});

/** One controller, with what stands above and below its routes. */
function controller(above: MethodDecorator, below: MethodDecorator): Type {
  @Controller('accounts')
  class Accounts {
    @above
    @Post(':id')
    @below
    @ApiOperation({ summary: 'moves money', operationId: 'move' })
    @ApiParam({ name: 'id', description: 'the account' })
    @ApiBody({ type: Transfer })
    @ApiResponse({ status: 201, type: Transfer })
    async move(
      @Param('id') _id: string,
      @Body() dto: Transfer,
      @Query('note') _note: string,
      @CurrentLease() _lease?: Lease,
    ): Promise<Transfer> {
      return dto;
    }

    @above
    @Get(':id')
    @below
    async read(@Param('id') id: string, @Headers('x-tenant') _tenant: string): Promise<string> {
      return id;
    }
  }
  return Accounts;
}

async function documentOf(accounts: Type): Promise<unknown> {
  const app = await bench.app({ controllers: [accounts] });
  return SwaggerModule.createDocument(app, new DocumentBuilder().build());
}

class Transfer {
  @ApiProperty({ description: 'cents' })
  amount!: number;
}
