import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Redis } from 'ioredis';
import { setTimeout } from 'node:timers/promises';
import { Locked } from 'nest-redis-lock';

export interface Rental {
  readonly box: number;
  readonly tenant: string;
}

@WebSocketGateway()
export class BoxesGateway {
  constructor(private readonly redis: Redis) {}

  /** Rents a safe-deposit box to one tenant. What it returns is the acknowledgement of the message. */
  @SubscribeMessage('rent')
  @Locked('box:<rental.box>', { wait: 0 })
  async rent(@MessageBody() rental: Rental): Promise<Rental> {
    const tenant = await this.redis.get(`box:${rental.box}`);
    if (tenant !== null) return { ...rental, tenant };
    await setTimeout(1_000); // draws up the contract
    await this.redis.set(`box:${rental.box}`, rental.tenant);
    return rental;
  }
}
