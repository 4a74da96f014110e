import { ConflictException, Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type Lease, CurrentLease, Locked } from 'nest-redis-lock';

@Injectable()
export class TransferService {
  constructor(private readonly redis: Redis) {}

  async balance(account: string): Promise<number> {
    return Number(await this.redis.get(`balance:${account}`));
  }

  /**
   * Both accounts or none. The keys are sorted before they are locked, so a transfer there and one back never
   * wait for each other; one lease holds both, and is lost when one of them is.
   */
  @Locked(['account:<from>', 'account:<to>'])
  async transfer(
    from: string,
    to: string,
    amount: number,
    @CurrentLease() lease?: Lease,
  ): Promise<void> {
    const [source, target] = [await this.balance(from), await this.balance(to)];
    if (source < amount) throw new ConflictException('Not enough money.');
    lease!.assertHeld();
    await this.redis.set(`balance:${from}`, source - amount);
    await this.redis.set(`balance:${to}`, target + amount);
  }

  /** One of the two keys, for those who need one account only: they and transfers exclude each other. */
  @Locked('account:<account>')
  async deposit(account: string, amount: number): Promise<void> {
    await this.redis.set(`balance:${account}`, (await this.balance(account)) + amount);
  }
}
