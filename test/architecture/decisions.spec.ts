import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { longSentences } from '../docs/english.js';

const FOLDER = 'docs/decisions';
const HEADINGS = ['Problem', 'Decision', 'Cost', 'Test'];
const LONGEST_PAGE = 30;
const LONGEST_SENTENCE = 30;

const pages = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .sort();

const REFERENCE = /^- \[`(.+)`\]\(\.\.\/\.\.\/(.+)\): "(.+)"$/;

describe.each(pages)('docs/decisions/%s', (name) => {
  it('is numbered, has the four headings and fits on a screen', () => {
    const nth = pages.indexOf(name) + 1;
    expect(name).toMatch(new RegExp(`^${String(nth).padStart(3, '0')}-[a-z0-9-]+\\.md$`));
    expect(titleOf(name)).toMatch(new RegExp(`^${nth}\\. `));
    const headings = [...textOf(name).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(HEADINGS);
    expect(textOf(name).trimEnd().split('\n').length).toBeLessThanOrEqual(LONGEST_PAGE);
  });

  it('has no sentence of more than 30 words', () => {
    expect(longSentences(textOf(name), LONGEST_SENTENCE)).toEqual([]);
  });

  it('names tests that exist', () => {
    const references = referencesOf(name);
    expect(references).not.toEqual([]);
    expect(references.map(fault).filter(Boolean)).toEqual([]);
  });
});

describe('the index of the decisions', () => {
  const chapters = textOf('README.md').split(/^## /m).slice(1);
  const listed = chapters.map((chapter) =>
    [...chapter.matchAll(/^- \[(.+)\]\((.+)\)$/gm)].map(([, title, name]) => ({ title, name })),
  );
  const byName = (one: { name?: string }, other: { name?: string }) =>
    one.name! < other.name! ? -1 : 1;

  it('has ten chapters, each in order', () => {
    expect(listed.length).toBe(10);
    for (const chapter of listed) expect(chapter).toEqual(chapter.toSorted(byName));
  });

  it('has each page once, by its title', () => {
    expect(listed.flat().sort(byName)).toEqual(
      pages.map((name) => ({ title: titleOf(name), name })),
    );
  });
});

describe('a test that a decision names', () => {
  const spec = 'test/architecture/decisions.spec.ts';
  const group = 'a test that a decision names';

  it('is found with its group', () => {
    expect(fault({ spec, sentence: `${group} › is found with its group` })).toBeUndefined();
  });

  it('is missed where its file is gone, or its name is another', () => {
    expect(fault({ spec: 'test/none.spec.ts', sentence: 'is' })).toMatch('is missing');
    expect(fault({ spec, sentence: `${group} › is another` })).toMatch('has no test');
  });
});

function textOf(name: string): string {
  return readFileSync(`${FOLDER}/${name}`, 'utf8');
}

function titleOf(name: string): string | undefined {
  return /^# (.+)$/m.exec(textOf(name))?.[1];
}

/** A test that fails when the decision is broken: its file, and its name, with its groups before it. */
interface Reference {
  readonly spec: string;
  readonly sentence: string;
}

function referencesOf(name: string): Reference[] {
  const [, list = ''] = textOf(name).split('\n## Test\n');
  const lines = list.split('\n').filter(Boolean);
  return lines.map((line) => {
    const [, shown, spec, sentence] = REFERENCE.exec(line) ?? [];
    if (shown === undefined || shown !== spec) throw new Error(`${name} has no test in "${line}".`);
    return { spec, sentence: sentence! };
  });
}

/** What is wrong with a reference; undefined if nothing is. */
function fault({ spec, sentence }: Reference): string | undefined {
  if (!existsSync(spec)) return `${spec} is missing`;
  const code = readFileSync(spec, 'utf8');
  const isNamed = (part: string): boolean =>
    [`'${part}'`, `"${part}"`, `\`${part}\``].some((literal) => code.includes(literal));
  const missing = sentence.split(' › ').find((part) => !isNamed(part));
  return missing && `${spec} has no test "${missing}"`;
}
