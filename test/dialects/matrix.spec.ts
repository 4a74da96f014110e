import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../lib/index.js';
import { CALL_DEFAULTS, callSettings, lockFormat, NATIVE } from '../../lib/engine/options/index.js';
import { versionsOf } from './peers/jvm.js';
import { samples } from './samples.js';

const folders = readdirSync('lib/engine/locks/dialects', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

it('every dialect stands in the matrix of the contracts', () => {
  const covered = new Set(samples.map((dialect) => lockFormat(dialect).family));
  expect([...covered].sort()).toEqual(folders.sort());
});

it('every dialect stands in the table of its page', () => {
  const page = readFileSync('docs/other-services.md', 'utf8');
  expect(folders.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});

it('the page says which versions of the libraries for the JVM are tested', () => {
  const page = readFileSync('docs/other-services.md', 'utf8');
  for (const [name, library] of [
    ['Redisson', 'redisson'],
    ['Spring Integration', 'spring-integration'],
  ]) {
    const { current, older } = versionsOf(library!);
    expect(page).toContain(`Tested against ${name} ${current} and ${older}`);
  }
  const { current, older } = versionsOf('shedlock');
  expect(page).toContain(`\`job-lock:default:\` | ${current} and ${older} |`);
  expect(page).toContain(`Jedis ${versionsOf('jedis').current}`);
});

describe.each(samples)('dialect %j', (dialect) => {
  const settings = lockFormat(dialect);
  const refusal = (options: object): (() => unknown) => {
    return () =>
      callSettings({ dialect, ...options }, CALL_DEFAULTS, ['signal', 'mode', 'permits']);
  };

  it('is one object however often it is named', () => {
    expect(lockFormat(dialect)).toBe(settings);
  });

  it('has no permits', () => {
    expect(refusal({ permits: 2 })).toThrow(LockOptionsError);
    expect(refusal({ permits: 2 })).toThrow(
      `Dialect "${settings.name}" does not support "permits"`,
    );
  });

  it('has no queue in which callers could be counted', () => {
    expect(refusal({ maxWaiting: 5 })).toThrow(LockOptionsError);
    expect(refusal({ maxWaiting: 5 })).toThrow(
      `Dialect "${settings.name}" does not support "maxWaiting"`,
    );
    expect(refusal({ maxWaiting: Infinity })).not.toThrow();
  });

  const asked = [
    ['shared', { mode: 'shared' }, "mode: 'shared'"],
    ['minHold', { minHold: '1s' }, 'minHold'],
    ['fencing', { fencing: true }, 'fencing: true'],
  ] as const;
  const lacking = asked.filter(([ability]) => !settings[ability]);
  const has = asked.filter(([ability]) => settings[ability]);

  it('takes what it has', () => {
    for (const [, options] of has) expect(refusal(options)).not.toThrow();
  });

  it('refuses what it has not, and says so', () => {
    for (const [, options, said] of lacking) {
      expect(refusal(options)).toThrow(LockOptionsError);
      expect(refusal(options)).toThrow(`Dialect "${settings.name}" does not support "${said}"`);
    }
  });
});

describe('a dialect', () => {
  it.each([
    ['cobol', 'There is no dialect "cobol"'],
    [{ name: 'cobol' }, 'There is no dialect "cobol"'],
    [{ prefix: 'x' }, 'Option "dialect" takes the name'],
    [null, 'Option "dialect" takes the name'],
    [{ name: 'plain', prefix: 'a{b' }, 'Option "prefix" of a dialect takes'],
    [{ name: 'plain', prefix: 1 }, 'Option "prefix" of a dialect takes'],
    [{ name: 'plain', guard: 'dog' }, 'Option "guard" of a dialect takes'],
    [{ name: 'timestamp', unit: 'h' }, "Option \"unit\" of a dialect takes 's', 'ms' or 'float'"],
    [{ name: 'timestamp', protocol: 'x' }, 'Option "protocol" of a dialect takes'],
    [{ name: 'redisson', kind: 'spin' }, 'Option "kind" of a dialect takes'],
    [{ name: 'redisson', sharded: 1 }, 'Option "sharded" of a dialect takes true or false'],
    [{ name: 'symfony', kind: 'x' }, 'Dialect "symfony" has no option "kind"'],
    ['laravel', 'Dialect "laravel" needs the "prefix" of its keys'],
    [{ name: 'laravel' }, 'Up to Laravel 10 it ends with a colon'],
    [{ name: 'laravel', prefix: 'a', version: 10 }, 'Dialect "laravel" has no option "version"'],
    [{ name: 'plain', suffix: 'a{b' }, 'Option "suffix" of a dialect takes a string'],
    ['spring', 'Dialect "spring" needs the key of the registry'],
    [{ name: 'spring', registry: 'a{b' }, 'Option "registry" of a dialect takes a string'],
    [
      { name: 'spring', registry: 'a', publish: 1 },
      'Option "publish" of a dialect takes true or false',
    ],
    [{ name: 'spring', registry: 'a', prefix: 'b' }, 'Dialect "spring" has no option "prefix"'],
    [
      { name: 'python-redis-lock', prefix: 'x' },
      'Dialect "python-redis-lock" has no option "prefix"',
    ],
    [{ name: 'plain', unit: 's' }, 'Dialect "plain" has no option "unit"'],
  ])('%j is refused', (dialect, message) => {
    expect(() => lockFormat(dialect)).toThrow(LockOptionsError);
    expect(() => lockFormat(dialect)).toThrow(message);
  });

  it('native is our own, also over the module’s', () => {
    const module = callSettings({ dialect: 'redlock' }, CALL_DEFAULTS);
    expect(module.format.family).toBe('plain');
    expect(callSettings({ dialect: 'native' }, module).format).toBe(NATIVE);
  });
});
