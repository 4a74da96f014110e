import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { Redis } from 'ioredis';
import { setTimeout } from 'node:timers/promises';
import { Locked } from 'nest-redis-lock';
import type { Charge } from './charge.js';

@Controller()
export class CardsController {
  constructor(private readonly redis: Redis) {}

  /** One charge of a card at a time. `wait: 0`: who comes meanwhile is answered at once, and may ask again. */
  @MessagePattern('cards.charge')
  @Locked('card:<charge.card>', { wait: 0 })
  async charge(@Payload() charge: Charge): Promise<number> {
    const spent = Number(await this.redis.get(`spent:${charge.card}`)) + charge.amount;
    await setTimeout(20); // asks the network of the card
    await this.redis.set(`spent:${charge.card}`, spent);
    return spent;
  }
}
