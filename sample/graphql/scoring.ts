import { Injectable } from '@nestjs/common';
import { setTimeout } from 'node:timers/promises';

/** Asks an agency what a loan is worth: that takes long, and each question is charged. */
@Injectable()
export class Scoring {
  questions = 0;

  async isSound(_loan: string): Promise<boolean> {
    this.questions += 1;
    await setTimeout(1_000);
    return true;
  }
}
