import { Controller, Get, Header, Param } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Locked } from 'nest-redis-lock';

/** What the application's metrics are kept in. */
export const scraped = new Registry();

/** Accounts that are locked while they are read, and an endpoint for Prometheus. */
@Controller()
export class ScrapedAccounts {
  @Get('accounts/:id')
  @Locked('account:<id>', { wait: 0 })
  async account(@Param('id') id: string): Promise<string> {
    return `account ${id}`;
  }

  @Get('metrics')
  @Header('Content-Type', scraped.contentType)
  metrics(): Promise<string> {
    return scraped.metrics();
  }
}
