import type { Heard } from '../support/heard.js';
import { check, type Seen } from './hold.js';

/** What listeners hear of a call, and of its lease on one of its keys: in this order, each once. */
const TOLD =
  /^(?:contended )?(?:timedOut|aborted|refused|failed|acquired(?: handedOff| renewalFailed)*(?: (released|lost))?)$/;

/** Listeners heard how each call ended and how each of its leases did, once, as its caller saw it; and of nothing else. */
export function checkTold(heard: Heard, seen: ReadonlyMap<string, Seen>): void {
  const { told, holds, unbalanced } = heard;
  check(unbalanced.length === 0, () => `ended not once: ${JSON.stringify(unbalanced[0])}`);
  const unknown = told.find(({ about }) => !('name' in about && seen.has(about.name)));
  check(!unknown, () => `${unknown!.event} was told of no call`);
  for (const [name, { keys, outcome, end }] of seen) {
    const ofCall = told.filter(({ about }) => 'name' in about && about.name === name);
    const lines = keys.map((key) => {
      const isAbout = (about: object): boolean =>
        'key' in about && (about.key === key || about.key === keys.join(', '));
      return ofCall.flatMap(({ event, about }) => (isAbout(about) ? [event] : [])).join(' ');
    });
    const isHeld = outcome === 'acquired';
    const wrong = lines.find((line) => !TOLD.test(line) || !line.includes(outcome));
    check(wrong === undefined, `of ${name}, which was ${outcome}, listeners heard "${wrong}"`);
    const begun = holds.filter((hold) => hold.name === name).length;
    check(isHeld ? begun >= keys.length : begun === 0, `${name} began ${begun} holds`);
    const ends = new Set(lines.map((line) => TOLD.exec(line)![1]));
    const isSo = ends.has(end) && (end === 'lost' ? !ends.has(undefined) : ends.size === 1);
    check(isSo, `of ${name} the lease was ${end}, listeners heard ${[...ends].join()}`);
  }
}
