import { describe, expect, it, jest } from '@jest/globals';
import { entryOf, requestAt } from '../../lib/engine/locks/entry.js';
import {
  handedOverId,
  heldAlone,
  isFenced,
  isHandedOver,
  labelOf,
  MARK,
  newHolderId,
  newProcessId,
  processOf,
} from '../../lib/engine/locks/holder.js';
import { LONGEST_LABEL, NATIVE } from '../../lib/engine/options/index.js';

const PROCESS = newProcessId();
const ID = 'b3JhbmdlIQ1b3JhbmdlIQ1';
const LABELS = ['Seats.hold', 'x', 'größe 木', '-_/ #~', '€'.repeat(LONGEST_LABEL)];

/** How the version before labels read what stands in Redis. */
const BEFORE = {
  alone: /^([^/]+\/[^/]+)\/(\d+)$/,
  holder: /^(?:9000000000000-)?([\w-]+)\.(\d+)\.[\w-]{11}\//,
  entry: /^([^/]+\/[^/]+)\/(\d+)\/([xspc])(\d+)(?:\/([^/]+))?(?:\/(\d+))?$/,
  /** What its scripts take for a native holder: holders.lua and shares/acquire.lua. */
  native: /^[\w-]+\.\d+\.[\w-]+\/[\w-]+\/?\d*$/,
};

describe.each(LABELS)('a holder whose call is labelled %j', (label) => {
  it.each([true, false])('says so, and whether it has tokens: %s', (fenced) => {
    const ids = [newHolderId(PROCESS, fenced, label), handedOverId(PROCESS, ID, fenced, label)];
    for (const id of ids) {
      expect(labelOf(id)).toBe(label);
      expect(labelOf(id + MARK)).toBe(label);
      expect(labelOf(`${id}/30000/x1`)).toBe(label);
      expect(isFenced(id)).toBe(fenced);
      expect(processOf(id)).toEqual(processOf(`${PROCESS}/${ID}`));
    }
    expect(ids.map(isHandedOver)).toEqual([false, true]);
  });

  it('is read by the version before labels as a holder of the same process', () => {
    for (const fenced of [true, false]) {
      const holder = newHolderId(PROCESS, fenced, label);
      expect(BEFORE.alone.exec(`${holder}/17`)?.slice(1)).toEqual([holder, '17']);
      expect(BEFORE.holder.exec(holder)?.[2]).toBe(String(process.pid));
      const entry = entryOf({ key: 'k', holder, ttl: 500, tokenBlock: 1, format: NATIVE });
      expect(BEFORE.entry.exec(entry)?.slice(1, 5)).toEqual([holder, '500', 'x', '1']);
      expect(BEFORE.native.test(`${holder}/17`)).toBe(true);
      expect(requestAt(entry, 'k')).toEqual({
        key: 'k',
        holder,
        ttl: 500,
        tokenBlock: 1,
        format: NATIVE,
      });
      expect(heldAlone(`${holder}/17`)).toEqual({ holder, firstToken: 17 });
    }
  });
});

describe('a holder without a label', () => {
  it('has an id as in the version before labels', () => {
    expect(newHolderId(PROCESS)).toMatch(/\/[\w-]{22}$/);
    expect(newHolderId(PROCESS, false)).toMatch(/\/[\w-]{22}-$/);
    expect(handedOverId(PROCESS, ID, true)).toBe(`${PROCESS}/${ID}h`);
    for (const id of [newHolderId(PROCESS), handedOverId(PROCESS, ID, false)]) {
      expect(labelOf(id)).toBeUndefined();
      expect(labelOf(`${id}/30000/x1`)).toBeUndefined();
    }
  });
});

it.each([
  ['a control character', Buffer.from('a\u001b[31m').toString('base64url')],
  ['a mark of direction', Buffer.from('a\u202e').toString('base64url')],
  ['no text', Buffer.from([0xff, 0xfe, 0xc0]).toString('base64url').concat('A'.repeat(400))],
  ['too much', Buffer.from('x'.repeat(LONGEST_LABEL + 1)).toString('base64url')],
  ['nothing', ''],
])('what somebody else wrote there is no label: %s', (_what, written) => {
  expect(labelOf(`${PROCESS}/${ID}_${written}`)).toBeUndefined();
});

it('each id has random bits of its own, also while the clock stands still', () => {
  const still = jest.spyOn(performance, 'now').mockReturnValue(1);
  const ids = Array.from({ length: 600 }, () => newHolderId(PROCESS));
  still.mockRestore();
  expect(new Set(ids).size).toBe(600);
});
