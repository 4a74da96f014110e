import { LuaScript, type ScriptRun } from './lua-script.js';
import type { Operand } from './resp.js';

/** A script that runs again and again with the same keys and the same list of operands: each command is encoded once. */
export class CachedScript extends LuaScript {
  readonly #encoded = new WeakMap<readonly Operand[], string>();

  override encoded(runs: readonly { readonly run: ScriptRun<unknown> }[], byText: boolean): string {
    if (byText) return super.encoded(runs, byText);
    const { args } = runs[0]!.run;
    let encoded = this.#encoded.get(args);
    if (encoded === undefined) this.#encoded.set(args, (encoded = super.encoded(runs, byText)));
    return encoded;
  }
}
