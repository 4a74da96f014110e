/** A service somewhere else: no transaction reaches it, and it may take long to answer. */
export class ExchangeRates {
  questions = 0;
  #silence: Promise<void> | undefined;

  async dollar(): Promise<number> {
    this.questions += 1;
    await this.#silence;
    return 2;
  }

  /** Answers nobody until the function is called that this returns. */
  hang(): () => void {
    let answer!: () => void;
    this.#silence = new Promise((resolve) => (answer = resolve));
    return answer;
  }
}
