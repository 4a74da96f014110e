/** How many trials go on at a time: most of each is waiting. */
const AT_ONCE = 4;

/** Tries each, some beside each other, since they share nothing; fails as the first does, when all have ended. */
export async function tryEach<Each>(
  all: readonly Each[],
  trial: (each: Each, nth: number) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const waiting = [...all.entries()];
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [nth, each] = next;
      await trial(each, nth);
    }
  });
  const ends = await Promise.allSettled(lanes);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** In how many of `count` trials it happened. */
export async function countTrials(count: number, trial: () => Promise<boolean>): Promise<number> {
  let happened = 0;
  await tryEach(Array.from({ length: count }), async () => {
    if (await trial()) happened += 1;
  });
  return happened;
}
