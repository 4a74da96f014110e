import { setTimeout } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';
import type { Rental } from './boxes.gateway.js';

/** What a client is told of a busy lock: in the acknowledgement, and as the event `exception`. */
export interface Refusal {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
  readonly retryAfter: number;
}

export class Customer {
  readonly refusals: Refusal[] = [];
  /** The same, as clients hear it that ask for no acknowledgement. */
  readonly exceptions: Refusal[] = [];
  readonly #socket: Socket;

  constructor(
    private readonly name: string,
    url: string,
  ) {
    this.#socket = io(url, { transports: ['websocket'] });
    this.#socket.on('exception', (refusal: Refusal) => this.exceptions.push(refusal));
  }

  /** To whom the box is let in the end. */
  async rent(box: number): Promise<string> {
    for (;;) {
      const answer: Rental | Refusal = await this.#socket.emitWithAck('rent', {
        box,
        tenant: this.name,
      });
      if ('tenant' in answer) return answer.tenant;
      if (answer.code !== 'LOCK_NOT_ACQUIRED') throw new Error(answer.message);
      this.refusals.push(answer);
      await setTimeout(answer.retryAfter * 1_000);
    }
  }

  leave(): void {
    this.#socket.close();
  }
}
