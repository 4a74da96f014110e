/** A service somewhere else: no transaction reaches it, and it may take long to answer. */
export class ExchangeRates {
  questions = 0;
  /** What each answer waits for: nothing, until somebody lets it hang. */
  line: Promise<void> = Promise.resolve();

  async dollar(): Promise<number> {
    this.questions += 1;
    await this.line;
    return 2;
  }
}
