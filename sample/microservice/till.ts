import { Inject, Injectable } from '@nestjs/common';
import type { ClientProxy } from '@nestjs/microservices';
import { firstValueFrom, retry, throwError, timer } from 'rxjs';
import type { Charge } from './charge.js';

/** What the client of a microservice is told of a lock: it needs no package of ours for that. */
export interface Refusal {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
  readonly retryAfter?: number;
}

@Injectable()
export class Till {
  /** Each answer that said busy. */
  readonly refusals: Refusal[] = [];

  constructor(@Inject('CARDS') private readonly cards: ClientProxy) {}

  /** What was spent with the card in all. Asks again after the seconds that a busy microservice names. */
  charge(charge: Charge): Promise<number> {
    const answer = this.cards.send<number>('cards.charge', charge);
    return firstValueFrom(answer.pipe(retry({ count: 20, delay: (error) => this.#later(error) })));
  }

  #later(refusal: Refusal) {
    if (refusal.code !== 'LOCK_NOT_ACQUIRED') return throwError(() => refusal);
    this.refusals.push(refusal);
    return timer(refusal.retryAfter! * 1_000);
  }
}
