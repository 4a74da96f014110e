import { Args, ID, Mutation, Query, Resolver } from '@nestjs/graphql';
import { Redis } from 'ioredis';
import { Locked } from 'nest-redis-lock';
import { Loan } from './loan.js';
import { Scoring } from './scoring.js';

@Resolver(() => Loan)
export class LoansResolver {
  constructor(
    private readonly redis: Redis,
    private readonly scoring: Scoring,
  ) {}

  @Query(() => Loan)
  async loan(@Args('id', { type: () => ID }) id: string): Promise<Loan> {
    return { id, ...(await this.redis.hgetall(`loan:${id}`)) };
  }

  /** One clerk at a time works on a loan. `wait: 0`: a second one hears at once that it is busy. */
  @Mutation(() => Loan)
  @Locked('loan:<id>', { wait: 0 })
  async approve(
    @Args('id', { type: () => ID }) id: string,
    @Args('clerk') clerk: string,
  ): Promise<Loan> {
    const loan = await this.loan(id);
    if (loan.approvedBy || !(await this.scoring.isSound(id))) return loan;
    await this.redis.hset(`loan:${id}`, { approvedBy: clerk });
    return this.loan(id);
  }
}
