import { LuaScript, type ScriptRun } from './lua-script.js';
import { bulk, type Operand } from './resp.js';

/**
 * A script that takes any number of runs itself, and so shares work among them. Its keys are the common ones, the first key
 * of each run, the second of each, and so on; its operands are the common ones and one of each run. It replies with one
 * answer for all runs, or with a list.
 */
export class MergedScript extends LuaScript {
  override joins(run: ScriptRun<unknown>, added: ScriptRun<unknown>): boolean {
    return added.common === run.common;
  }

  override encoded(runs: readonly { readonly run: ScriptRun<unknown> }[], byText: boolean): string {
    const common = runs[0]!.run.common!;
    const ofEach = this.keys.length - common.keys.length;
    let { names } = common;
    for (let at = 0; at < ofEach; at += 1) {
      for (const { run } of runs) names += bulk(run.keys.keys[at]!);
    }
    let own = '';
    let earliest = Infinity;
    for (const { run } of runs) {
      own += bulk(run.args[0]!);
      if (run.notAfter! < earliest) earliest = run.notAfter!;
    }
    const keys = common.keys.length + runs.length * ofEach;
    const before = earliest === Infinity ? '' : bulk(earliest);
    const head = this.head(keys + this.args.length - 1 + runs.length, byText);
    return `${head}${bulk(keys)}${names}${before}${common.operands}${own}`;
  }

  override operands({ common, notAfter, keys, args }: ScriptRun<unknown>): Operand[] {
    const names = [...common!.keys, ...keys.keys];
    const before = notAfter === undefined ? [] : [notAfter];
    return [names.length, ...names, ...before, ...common!.args, ...args];
  }

  override replyTo(nth: number, _runs: number, reply: unknown): unknown {
    return Array.isArray(reply) ? (reply as unknown[])[nth] : reply;
  }
}
