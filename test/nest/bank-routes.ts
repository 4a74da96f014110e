// The routes of a bank, which lock an account each; the slow ones keep Redis from giving it back for a while.
import {
  Body,
  type CanActivate,
  Controller,
  ForbiddenException,
  Get,
  Header,
  HttpCode,
  Injectable,
  Param,
  ParseIntPipe,
  Post,
  Req,
  UseGuards,
} from '@nestjs/common';
import { Redis } from 'ioredis';
import { CurrentLease, Lease, Locked, LockedRequest, LockService } from '../../lib/index.js';
import { Balance } from '../support/balance.js';

@Injectable()
class NobodyPasses implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException('no');
  }
}

@Controller('accounts')
export class Accounts {
  constructor(
    private readonly locks: LockService,
    private readonly balance: Balance,
    private readonly admin: Redis,
  ) {}

  @Locked('account:<id>')
  @Get('above/:id')
  async above(
    @Param('id', ParseIntPipe) id: number,
    @CurrentLease() lease?: Lease,
  ): Promise<unknown> {
    return { id, key: lease!.key };
  }

  @Get('below/:id')
  @Locked('account:<id>')
  async below(
    @Param('id', ParseIntPipe) id: number,
    @CurrentLease() lease?: Lease,
  ): Promise<unknown> {
    return { id, key: lease!.key };
  }

  @LockedRequest('account:<params.id>')
  @Get('request/:id')
  async request(@Param('id', ParseIntPipe) id: number): Promise<unknown> {
    return { id, key: this.locks.current()!.key };
  }

  @Locked('account:<dto.account>')
  @Post('deposits')
  @HttpCode(202)
  @Header('x-bank', 'yes')
  async deposit(@Body() dto: { account: string; amount: number }): Promise<{ balance: number }> {
    return { balance: await this.balance.add(dto.amount) };
  }

  @Locked('account:<id>')
  @UseGuards(NobodyPasses)
  @Get('guarded/:id')
  async guarded(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Locked('account:<id>', { wait: 0 })
  @Get('quick/:id')
  async quick(@Param('id') id: string, @Req() request: { url: string }): Promise<string> {
    return `${id} ${request.url}`;
  }

  @Locked('account:<id>')
  @Get('slow/:id')
  async slow(@Param('id') id: string): Promise<string> {
    await this.admin.client('PAUSE', 100, 'WRITE');
    return id;
  }

  @LockedRequest('account:<params.id>')
  @Get('slow-request/:id')
  async slowRequest(@Param('id') id: string): Promise<string> {
    await this.admin.client('PAUSE', 100, 'WRITE');
    return id;
  }
}
