import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import {
  all,
  files,
  judge,
  missingTools,
  MODEL_FOLDER,
  MODELS,
  type Run,
  verify,
} from './models.js';

/** The runs that look at the fewest states; all of them are what `npm run model` is for. */
const SMALL: Record<string, Run> = {
  queue: { bounds: { CRASHES: 1 } },
  readers: { bounds: { DEAF: 1 } },
  versions: { bounds: { DEAF: 1, EVICTIONS: 2 } },
  conditions: { bounds: { CRASHES: 1 }, progress: true },
  handover: { bounds: { BREAKS: 3 } },
};
/** Ends what hangs: on a busy machine, Spin has taken two minutes for one mistake. */
const LIMIT = 900_000;

/** Those that another includes are no models by themselves. */
const PARTS = ['client', 'lock'];

const missing = missingTools();
const withSpin = missing === undefined ? describe : describe.skip;

describe('the model', () => {
  const comments = [...all.matchAll(/\/\*[^]*?\*\//g)].map(([text]) => text).join('\n');
  const named = [...comments.matchAll(/\b(?:[\w-]+\/)?[\w-]+\.(?:lua|ts)\b/g)].map(
    ([file]) => file,
  );

  it('names scripts and files of the client that are there', () => {
    const places = ['lib/engine', 'lib/engine/locks', 'lib/engine/client'];
    const unknown = named.filter((file) => !places.some((place) => existsSync(`${place}/${file}`)));
    expect(named.length).toBeGreaterThan(30);
    expect(unknown).toEqual([]);
  });

  it('is described: each of its files, and each script that it has', () => {
    const page = readFileSync(`${MODEL_FOLDER}/README.md`, 'utf8');
    const scripts = named.filter((file) => file.endsWith('.lua') && !file.startsWith('includes/'));
    const left = [...files, ...scripts].filter((file) => !page.includes(`\`${file}\``));
    expect(left).toEqual([]);
  });

  it('has a run, or more, for each file', () => {
    const names = [...MODELS.map(({ name }) => name), ...PARTS].sort();
    expect(names).toEqual(files.map((file) => file.slice(0, -'.pml'.length)).sort());
    expect(Object.keys(SMALL)).toEqual(MODELS.map(({ name }) => name));
    expect(MODELS.filter(({ runs }) => runs.length === 0)).toEqual([]);
  });

  it('has a mistake for each of its promises, and each mistake once in a model', () => {
    const promises = [...all.matchAll(/PROMISE\((\w+), /g)].map(([, name]) => name!);
    const mistakes = MODELS.flatMap((model) => model.mistakes);
    const broken = new Set(mistakes.map(({ breaks }) => breaks));
    expect([...broken].sort()).toEqual(
      [...new Set([...promises, 'progress'])].filter((name) => name !== 'name').sort(),
    );
    for (const model of MODELS) {
      const at = model.mistakes.map((mistake) => mistake.at);
      expect(at).toEqual([...new Set(at)]);
    }
  });

  it('has the line that each mistake changes, and no other such line', () => {
    const lines = [...all.matchAll(/^#(?:ifdef|ifndef|elif defined\() ?\(?([A-Z_]+)/gm)];
    const bounds = MODELS.flatMap(({ runs }) => runs.flatMap((run) => Object.keys(run.bounds!)));
    const known = ['PROGRESS', 'ROUNDS', 'WITH_READERS', 'WITH_ONCE', ...bounds];
    const switches = lines.map(([, name]) => name!).filter((name) => !known.includes(name));
    const mistakes = MODELS.flatMap((model) => model.mistakes.map(({ at }) => at));
    expect([...new Set(switches)].sort()).toEqual([...new Set(mistakes)].sort());
  });
});

describe('what Spin says', () => {
  const end = 'errors: 0\n 24 states, stored\n';

  it('is which promise is broken, or that none is', () => {
    expect(judge(`State-vector 1 byte, depth reached 3, ${end}`)).toMatchObject({ states: 24 });
    const broken = `pan:1: assertion violated order (at depth 9)\n${end.replace('0', '1')}`;
    expect(judge(broken).broken).toBe('order');
    expect(judge(`pan:1: acceptance cycle (at depth 9)\n${end}`).broken).toBe('progress');
  });

  it('counts for nothing where the search was not complete', () => {
    for (const why of ['out of memory', 'max search depth too small', 'Search not completed']) {
      expect(() => judge(`error: ${why}\n${end}`)).toThrow('not complete');
    }
    expect(() => judge('')).toThrow('not complete');
  });
});

withSpin(missing === undefined ? 'Spin' : `Spin: ${missing}`, () => {
  describe.each(MODELS)('with the model $name', ({ name, mistakes }) => {
    it(
      'finds every promise kept',
      async () => {
        const found = await verify({ name, ...SMALL[name] });
        expect(found.broken).toBeUndefined();
        expect(found.states).toBeGreaterThan(1_000);
      },
      LIMIT,
    );

    it.each(mistakes)(
      'finds that $mistake breaks $breaks',
      async (mistake) => {
        expect((await verify({ name, ...mistake })).broken).toBe(mistake.breaks);
      },
      LIMIT,
    );
  });
});
