import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const RULES = 'docs/public/alert-rules.yml';
const SERIES = 'test/docs/alert-rules.yml';

const missing =
  spawnSync('which', ['promtool']).status === 0
    ? undefined
    : 'it needs promtool: on Debian, apt-get install prometheus.';

/** What promtool answers. */
function promtool(...words: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

// Skipped by name, with what is missing.
// oxlint-disable-next-line jest/no-disabled-tests
if (missing !== undefined) it.skip(`the alert rules, run by Prometheus: ${missing}`, () => {});
const here = missing === undefined ? describe : describe.skip;

here('the alert rules', () => {
  it('are rules to Prometheus', () => {
    expect(promtool('check', 'rules', RULES)).toMatchObject({ status: 0 });
  });

  it('fire where they should and nowhere else, each of them', () => {
    const names = [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(
      ([, name]) => name,
    );
    const series = readFileSync(SERIES, 'utf8');
    expect(names.length).toBe(7);
    expect(names.filter((name) => !series.includes(`"${name}",alertstate="firing"`))).toEqual([]);
    expect(promtool('test', 'rules', SERIES)).toMatchObject({ status: 0 });
  });
});
