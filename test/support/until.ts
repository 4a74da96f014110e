/** The first truthy answer of `probe`, asked again every few ms; fails naming `what` when `within` ms are over. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  within = 20_000,
): Promise<NonNullable<T>> {
  const end = performance.now() + within;
  for (;;) {
    const answer = await probe();
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`Not within ${within} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}
