/** One request to the bank, and what it changes if it succeeds. */
export interface Booking {
  readonly path: string;
  readonly body: object;
  readonly changes: readonly Change[];
}

export type Change = readonly [account: string, amount: number];

/** Many requests at the same time that touch the same few accounts. */
export class Workload {
  readonly accounts: readonly string[];

  constructor(
    readonly name: string,
    readonly requests: number,
    accounts: number,
    /** All requests are about the first account, and the others only take part in transfers. */
    private readonly onFirst: boolean,
  ) {
    this.accounts = Array.from({ length: accounts }, (_, i) => `${name.replaceAll(' ', '-')}-${i}`);
  }

  /** A deposit, a withdrawal or a transfer, by chance. */
  next(): Booking {
    const [account, other] = this.#two();
    const amount = 1 + Math.floor(Math.random() * 9);
    switch (Math.floor(Math.random() * 3)) {
      case 0:
        return { path: `${account}/deposits`, body: { amount }, changes: [[account, amount]] };
      case 1:
        return { path: `${account}/withdrawals`, body: { amount }, changes: [[account, -amount]] };
      default: {
        const [from, to] = Math.random() < 0.5 ? [account, other] : [other, account];
        return {
          path: `${from}/transfers`,
          body: { to, amount },
          changes: [
            [from, -amount],
            [to, amount],
          ],
        };
      }
    }
  }

  #two(): [string, string] {
    const count = this.accounts.length;
    const first = this.onFirst ? 0 : Math.floor(Math.random() * count);
    const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count;
    return [this.accounts[first]!, this.accounts[second]!];
  }
}
