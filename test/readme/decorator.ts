import { Body, Controller, Injectable, Param, Post } from '@nestjs/common';
import { Observable, of } from 'rxjs';
// #region decorator
import { CurrentLease, type Lease, Locked, LockedRequest, lockKey } from 'nest-redis-lock';
// #endregion

interface Order {
  customer: { id: string };
  items: string[];
}

// #region decorator

@Injectable()
export class OrdersService {
  @Locked('order:<order.customer.id>', { wait: '2s' }) // a path into an argument
  async place(order: Order): Promise<number> {
    return order.items.length;
  }

  @Locked((id: string) => lockKey`stock:${id}`) // a function, typed against the method
  async restock(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${id} under token ${lease!.fencingToken}`;
  }

  @Locked('nightly-import', { onBusy: 'skip' }) // one replica does it, the others return at once
  async importOrders(done: string[]): Promise<void> {
    done.push('imported');
  }

  @Locked('feed:<shop>') // acquired by each subscription, held until it completes
  feed(shop: string): Observable<string> {
    return of(shop);
  }
}

@Controller('orders')
@LockedRequest('tenant:<headers.x-tenant>') // before pipes, around other interceptors, for every handler
export class OrdersController {
  @Post(':id')
  @Locked('order:<id>') // after pipes, around the method alone
  async update(@Param('id') id: string, @Body() body: { note: string }): Promise<string> {
    return `${id}: ${body.note}`;
  }
}
// #endregion
