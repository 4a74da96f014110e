import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What nobody keeps is gone after that, but for what the last steps of the caller may still have on the stack. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}
