import { Injectable } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';
import { Database } from './database.js';

@Injectable()
export class ReportService {
  constructor(private readonly database: Database) {}

  /** At most two at a time for one tenant, over all replicas; whoever comes then waits for its turn. */
  @Locked('report:<tenant>', { permits: 2, wait: '1m' })
  async create(tenant: string): Promise<string> {
    return this.database.sumUp(tenant);
  }
}
