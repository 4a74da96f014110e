import { Holding } from '../../lib/leases/holding.js';
import { scripts } from '../../lib/locks/lock/scripts.js';
import { LuaScript } from '../../lib/redis/index.js';
import type { Wrap } from './world.js';

type Step = keyof typeof scripts;

/** A mistake put into the library for the time of one test. */
export interface Plant {
  /** Makes it; returns how to undo it. */
  readonly sow?: () => () => void;
  readonly wrap?: Wrap;
}

/** Another text in every script of these that has it. */
export function inScripts(steps: readonly Step[], ...edits: readonly [string, string][]): Plant {
  return {
    sow() {
      const originals = { ...scripts };
      for (const [from] of edits) {
        if (!steps.some((step) => scripts[step].source.includes(from)))
          throw new Error(`No script says "${from}".`);
      }
      for (const step of steps) {
        const { source, keys, args } = scripts[step];
        let edited = source;
        for (const [from, to] of edits) {
          if (!source.includes(from)) continue;
          edited = edited.replaceAll(from, () => to);
        }
        if (edited === source) throw new Error(`There is nothing to break in ${step}.lua.`);
        Object.assign(scripts, { [step]: new LuaScript<string, string>(edited, keys, args) });
      }
      return () => void Object.assign(scripts, originals);
    },
  };
}

/** Another getter or method of a held lease. */
export function inHolding(name: keyof Holding, descriptor: PropertyDescriptor): Plant {
  return {
    sow() {
      const original = Object.getOwnPropertyDescriptor(Holding.prototype, name)!;
      Object.defineProperty(Holding.prototype, name, { ...descriptor, configurable: true });
      return () => void Object.defineProperty(Holding.prototype, name, original);
    },
  };
}
