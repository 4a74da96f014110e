/** What a test makes somebody wait for. */
export class Gate {
  readonly opened: Promise<void>;
  open!: () => void;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  /** What a promise comes to, told when the gate is open. */
  async after<Answer>(promise: Promise<Answer>): Promise<Answer> {
    const answer = await promise;
    await this.opened;
    return answer;
  }
}
