import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { Book } from './book.js';
import { InvoicesService } from './invoices.service.js';

@Module({ providers: [InvoicesService] })
export class InvoicesModule {
  /** `nodes`: servers that know nothing of each other; a majority of them must answer. */
  static votedOnBy(nodes: readonly string[], book: Book): DynamicModule {
    return {
      module: InvoicesModule,
      imports: [RedisLockModule.forRoot({ nodes, keyPrefix: 'bank-demo:lock:' })],
      providers: [{ provide: Book, useValue: book }],
    };
  }
}
