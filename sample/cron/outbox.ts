/** Counts what was sent in each second. */
export class Outbox {
  readonly sent = new Map<number, number>();
  readonly sentCarelessly = new Map<number, number>();

  send(): void {
    count(this.sent);
  }

  sendCarelessly(): void {
    count(this.sentCarelessly);
  }

  /** Resolves when this many seconds have had their digest. */
  async seconds(wanted: number): Promise<void> {
    while (this.sent.size < wanted) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function count(sent: Map<number, number>): void {
  const second = Math.floor(Date.now() / 1_000);
  sent.set(second, (sent.get(second) ?? 0) + 1);
}
