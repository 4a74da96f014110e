import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { conditions, exclusive, shares } from '../../lib/engine/locks/native-scripts.js';
import * as constants from '../../lib/engine/protocol/constants.js';
import type { LuaScript } from '../../lib/engine/redis/index.js';
import { longSentences } from '../docs/english.js';

const page = readFileSync('docs/protocol.md', 'utf8');
const rows = [...page.matchAll(/^\| (.+) \|$/gm)].map(([, row]) => row!.split(/ ?\| ?/));

/** Numbers of the page in the words of the constants: `3,000 ms` is 3000. */
function numbersOf(cell: string): number[] {
  return cell
    .split(', ')
    .map((each) => Number(each.replaceAll(',', '').replace(/ (?:ms|µs)$/, '')));
}

describe('the page of the protocol', () => {
  it('has each number of the constants, and no other', () => {
    const listed = rows
      .filter(([names]) => /^`[A-Z_]{2,}`/.test(names!))
      .flatMap(([names, values]) => {
        const numbers = numbersOf(values!);
        return names!.split(', ').map((name, nth) => [name.slice(1, -1), numbers[nth]]);
      });
    const numbers = Object.entries(constants).filter(([, value]) => typeof value === 'number');
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(numbers));
  });

  it('has each marker', () => {
    const { SHARED, PERMITS, KEPT } = constants;
    for (const marker of [SHARED, PERMITS, KEPT]) expect(page).toContain(`\`${marker}\``);
  });

  it('has the operands of each step, in the order of its script', () => {
    const folders = {
      lock: exclusive,
      shares: { ...shares, leave: undefined },
      condition: conditions,
    };
    const steps = Object.entries(folders).flatMap(([folder, scripts]) =>
      Object.entries(scripts as Record<string, LuaScript | undefined>).flatMap(([step, script]) =>
        script
          ? [
              [
                `${folder}/${fileOf(step)}.lua`,
                [script.keys.join(' '), script.args.join(' ')],
              ] as const,
            ]
          : [],
      ),
    );
    const told = rows
      .filter(([file]) => /^`\w+\/[\w-]+\.lua`$/.test(file!))
      .map(([file, ...operands]) => [
        file!.slice(1, -1),
        operands.slice(0, 2).map((each) => each.replace(', for each lock', '').trim()),
      ]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(steps));
  });

  it('has no sentence of more than 30 words', () => {
    expect(longSentences(page, 30)).toEqual([]);
  });

  it('names scripts and sources that exist', () => {
    const named = [...page.matchAll(/`([\w/-]+\.(?:lua|ts|md))`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(15);
    const missing = named.filter(
      (path) => !['.', 'lib/engine/locks'].some((at) => existsSync(`${at}/${path}`)),
    );
    expect(missing).toEqual([]);
  });
});

/** The name of the file of a step. */
function fileOf(step: string): string {
  return step.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
