import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { besideTimestamps } from '../../lib/engine/locks/timestamp-compat/timestamp-compat.js';
import { nativeScripts } from '../../lib/engine/locks/native-scripts.js';
import {
  BESIDE,
  commandsOf,
  LuaScript,
  missingRights,
  rightsFor,
} from '../../lib/engine/redis/index.js';
import luaparse from 'luaparse';
import * as constants from '../../lib/engine/protocol/constants.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { luaScripts } from '../support/lua-scripts.js';
import { filesBelow } from './files-below.js';

const lua = '../../tools/lua.mjs';
const { INCLUDED, withConstants } = (await import(lua)) as {
  INCLUDED: ReadonlyMap<string, { file: string; text: string }>;
  withConstants: (text: string) => string;
};

const INCLUDES = 'lib/engine/locks/includes/';
const includes = filesBelow(INCLUDES, '.lua');
/** What is put around a script at run time. */
const around = filesBelow('lib/engine/locks/timestamp-compat', '.lua');
const files = filesBelow('lib', '.lua').filter((file) => ![...includes, ...around].includes(file));

let redis: RedisProcess;
let client: Redis;
let scripts: LuaScript[];

beforeAll(async () => {
  redis = await RedisProcess.start();
  client = new Redis(redis.url);
  scripts = await luaScripts();
});

afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

it('finds scripts', () => {
  expect(files.length).toBeGreaterThanOrEqual(6);
});

it('no script has a string with two dashes, which the build would take for a comment', () => {
  const code = filesBelow('lib', '.lua').flatMap((file) => source(file).split('\n'));
  expect(code.filter((line) => /^[^'"]*?(?<!--.*)(['"])(?:(?!\1).)*--/.test(line))).toEqual([]);
});

it('each script has a name of its own, for who traces commands', () => {
  const all = [...new Set(scripts)];
  const names = all.flatMap((script) => [script.name, besideTimestamps(script).name]);
  expect(names.filter((name) => !/^[a-z-]+\.[a-zA-Z]+$/.test(name ?? ''))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  for (const { sha, name, traced } of all) expect(traced).toEqual([sha, name]);
});

/** What Redis gives a script. Any other name that no line declares would be nil there. */
const GIVEN = 'KEYS ARGV redis ipairs math pcall string table tonumber type unpack'.split(' ');

it('each script declares the keys and operands that its includes need', () => {
  const all = scripts.flatMap((script) =>
    /^(lock|shares|condition)\./.test(script.name!) ? [script, besideTimestamps(script)] : [script],
  );
  const free = all.flatMap(({ name, source: text }) =>
    luaparse
      .parse(text, { scope: true, luaVersion: '5.1' })
      .globals.filter((each) => !GIVEN.includes(each.name))
      .map((each) => `${name}: ${each.name}`),
  );
  expect(free).toEqual([]);
});

it('each key of a native script is the lock, the fence or one beside the lock', () => {
  const names = nativeScripts.flatMap((script) =>
    [script, besideTimestamps(script)].flatMap(({ keys }) => keys),
  );
  expect([...new Set(names)].sort()).toEqual(['lock', 'fence', ...BESIDE].sort());
});

it('the start-up tries whether the Redis user may run each command of a native script', async () => {
  const tried: string[] = [];
  const connection = {
    async send(_: string, [, , calls]: [string, number, string]) {
      tried.push(...(JSON.parse(calls) as string[][]).map(([command]) => command!));
    },
  };
  await missingRights(connection as never, rightsFor('lock:', nativeScripts));
  const untried = commandsOf(nativeScripts).filter((command) => !tried.includes(command));
  expect(untried).toEqual(['time', 'publish']); // the first script of all, and the first message, find these missing
});

/** What a script's first line of operands looks like: `local lock, fence = KEYS[1], KEYS[2]`. */
const DECLARATION = /^\s*local [\w, ]+ = .*\b(?:KEYS|ARGV)\[.*$/gm;

describe.each(files)('%s', (file) => {
  const text = source(file);
  const body = text.replaceAll(DECLARATION, '').replaceAll(/--.*$/gm, '');
  const { keys, args } = new LuaScript(text);

  it('says in two lines at its top what it does and what it returns', () => {
    const [does, returns, after] = text.split('\n');
    expect(does).toMatch(/^-- [A-Z].+\.$/);
    expect(returns).toMatch(/^-- Returns .+\.$/);
    expect(after).not.toMatch(/^--/);
  });

  it('touches KEYS and ARGV only where it gives them names', () => {
    expect(body.replaceAll(/#KEYS|unpack\(KEYS[^)]*\)/g, '')).not.toMatch(/\b(KEYS|ARGV)\b/);
  });

  it('uses every operand that it declares', () => {
    const whole = scriptOf(file)!.step.replaceAll(DECLARATION, '');
    const unused = [...keys, ...args].filter((name) => !new RegExp(`\\b${name}\\b`).test(whole));
    expect(unused).toEqual([]);
  });

  it('counts its operands from one, without a gap', () => {
    const declared = [...text.matchAll(DECLARATION)].join('\n');
    for (const kind of ['KEYS', 'ARGV']) {
      const places = [...declared.matchAll(new RegExp(`${kind}\\[(\\d+)\\]`, 'g'))];
      expect(places.map(([, n]) => Number(n))).toEqual(places.map((_, at) => at + 1));
    }
  });

  it('is in the package with the operands that it declares', () => {
    expect(scriptOf(file)).toMatchObject({ keys, args });
  });

  it('asks for the time only through the include', () => {
    expect(body).not.toMatch(/'TIME'/i);
  });

  it('includes what exists, and nothing that it does not need', () => {
    const all = scriptOf(file)!.step;
    const names = [...text.matchAll(/^--- @include (.+)$/gm)].flatMap(([, list]) =>
      list!.split(', '),
    );
    const unused = names.filter((name) => all.split(new RegExp(`\\b${name}\\b`)).length <= 2);
    expect(unused).toEqual([]);
  });

  it('loads into Redis', async () => {
    const script = scriptOf(file)!;
    expect(await client.script('LOAD', script.source)).toBe(script.sha);
  });
});

describe.each([
  ...[...INCLUDED].map(([name, { text }]) => [name, text]),
  ...around.map((file) => [file, source(file)]),
])('%s', (_, text) => {
  it('says at its top what it is', () => {
    expect(text).toMatch(/^-- [A-Z].+/);
  });

  it('reads no operands', () => {
    expect(text).not.toMatch(/\b(KEYS|ARGV)\b/);
  });
});

it('has no function twice among the includes, and none that no script includes', () => {
  const texts = [...includes, ...files].map((file) => readFileSync(file, 'utf8'));
  const defined = texts.flatMap((text) => [...text.matchAll(/^local function (\w+)/gm)]);
  const shared = defined.map(([, name]) => name!).filter((name) => INCLUDED.has(name));
  expect(shared.length).toBe(INCLUDED.size);
  const included = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/^--- @include (.+)$/gm)].flatMap(([, list]) =>
        list!.split(', ').map((name) => INCLUDED.get(name)),
      ),
    ),
  );
  expect([...INCLUDED].filter(([, part]) => !included.has(part)).map(([name]) => name)).toEqual([]);
});

/** The numbers of the protocol that are no unit, but for those that are small. */
const NUMBERS: readonly unknown[] = Object.values(constants).filter(
  (value) => Number(value) >= 100 && value !== 1_000,
);

describe.each([...files, ...includes, ...around].filter((file) => !file.includes('dialects')))(
  '%s',
  (file) => {
    const parts = readFileSync(file, 'utf8').split('\n\n');
    const native = parts.filter((part) => !part.includes('function ends_of('));
    const code = native.join('\n\n').replaceAll(/--.*$/gm, '');

    it('spells no number of the protocol', () => {
      const numbers = [...code.matchAll(/\b\d[\d.]*(?:e\d+)?\b/g)].map(([number]) =>
        Number(number),
      );
      expect(numbers.filter((number) => NUMBERS.includes(number))).toEqual([]);
    });

    it('knows each constant that it names', () => {
      const named = withConstants(code).match(/(?<!['.\w])[A-Z][A-Z_]{2,}\b(?!')/g) ?? [];
      const own = new Set(['KEYS', 'ARGV', 'BUDGET', 'LISTENS', 'FIRSTS', 'MINTED']);
      expect(named.filter((name) => !own.has(name))).toEqual([]);
    });
  },
);

/** The text of a file with the protocol's constants, as it comes into a script. */
function source(file: string): string {
  return withConstants(readFileSync(file, 'utf8'));
}

/** The script that was made of a file: its text, apart from the includes. */
function scriptOf(file: string): LuaScript | undefined {
  const own = source(file)
    .split(/^--- @include .*$/m)
    .map((part) => part.trim());
  return scripts.find((script) => own.every((part) => script.step.includes(part)));
}
