import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const README = readFileSync('sample/README.md', 'utf8');
const demo = readFileSync('test/sample/demo.spec.ts', 'utf8');

/** Each sample that is started by its own `main.ts`; the demo has a script in package.json. */
const samples = readdirSync('sample').filter(
  (folder) => folder !== 'demo' && existsSync(`sample/${folder}/main.ts`),
);

describe.each(samples)('the sample %s', (folder) => {
  it('has a row in sample/README.md, and the line that starts it', () => {
    expect(README).toMatch(
      new RegExp(`^\\| \\[\`${folder}/\`\\]\\(${folder}/[\\w.-]+\\.ts\\) \\| `, 'm'),
    );
    expect(README).toMatch(new RegExp(`^node build/sample/${folder}/main\\.js( |$)`, 'm'));
  });

  it('has a spec, and is started by its line in the full run', () => {
    expect(existsSync(`test/sample/${folder}.spec.ts`)).toBe(true);
    expect(demo).toMatch(new RegExp(`^  ${folder}:\\s+/`, 'm'));
  });

  it('is short, and knows this package by its name alone', () => {
    for (const name of readdirSync(`sample/${folder}`)) {
      const text = readFileSync(`sample/${folder}/${name}`, 'utf8');
      expect(text.split('\n').length).toBeLessThanOrEqual(101);
      expect(text).not.toMatch(/from '(\.\.\/)+lib\//);
    }
  });
});

it('the files that sample/README.md links to exist', () => {
  const links = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!);
  expect(links.filter((to) => !existsSync(`sample/${to}`))).toEqual([]);
});
