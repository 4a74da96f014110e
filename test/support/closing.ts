/** What was begun and is to be closed, by `afterEach(closeAll)` of the spec: what began last is closed first. */
export const closing: (() => unknown)[] = [];

export async function closeAll(): Promise<void> {
  while (closing.length > 0) await closing.pop()!();
}
