import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { COMMANDS, OPTIONS, type Values } from '../../lib/watch/cli/arguments.js';
import { numberOf, timeOf } from '../../lib/watch/cli/context.js';
import { kindOf } from '../../lib/watch/cli/doctor/key-kind.js';
import { HELP } from '../../lib/watch/cli/help.js';
import { connectionOptionsOf } from '../../lib/watch/cli/connection-options.js';
import { columnsOf, cutTo, printable, printableJson } from '../../lib/watch/cli/printable.js';
import { span } from '../../lib/engine/options/index.js';
import { tableOf } from '../../lib/watch/cli/table.js';
import { WORDING } from '../../lib/watch/cli/wording.js';
import { filesBelow } from '../architecture/files-below.js';

/** What a terminal obeys, or what hides a text: none of it may be printed. */
const HOSTILE: readonly (readonly [what: string, text: string, shown: string])[] = [
  ['what clears the screen', '\u001b[2J', String.raw`\x1b[2J`],
  ['what sets a title', '\u001b]0;title\u0007', String.raw`\x1b]0;title\x07`],
  ['what ends lines', 'a\r\nb\tc\u0000', String.raw`a\x0d\x0ab\x09c\x00`],
  ['the one-byte CSI', '\u009b31m', String.raw`\x9b31m`],
  ['DEL', '\u007f', String.raw`\x7f`],
  ['what turns the direction', '\u202egnp.exe', String.raw`\u{202e}gnp.exe`],
  ['what isolates', '\u2066a\u2069', String.raw`\u{2066}a\u{2069}`],
  ['what has no width', 'a\u200bb', String.raw`a\u{200b}b`],
  ['spaces that are none', 'a\u00a0b\u2028c', String.raw`a\xa0b\u{2028}c`],
  ['half a pair', '\ud800', String.raw`\u{d800}`],
  ['an invisible tag', '\u{e0041}', String.raw`\u{e0041}`],
];

describe('a text from Redis', () => {
  it.each(HOSTILE)('is shown as what it is: %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(printable(printable(text))).toBe(shown);
  });

  it.each(HOSTILE)('is the same again in JSON, and as harmless there: %s', (_, text) => {
    const json = printableJson({ text });
    expect(json).toMatch(/^[ -~]+$/);
    expect(JSON.parse(json)).toEqual({ text });
  });

  it('stays as it is where everything in it can be seen', () => {
    for (const text of ['account:42', 'a b', 'Zürich', '東京', '🔒', 'e\u0301']) {
      expect(printable(text)).toBe(text);
    }
  });

  it('takes as many columns as it says', () => {
    expect(['account', '東京', '🔒', 'e\u0301'].map(columnsOf)).toEqual([7, 4, 2, 1]);
    expect(cutTo('account:42', 8)).toBe('account…');
    expect(cutTo('東京都', 4)).toBe('東…');
  });
});

describe('a table', () => {
  it('has its columns under their headings, and gives way in the first', () => {
    const rows = [
      ['東京', 'x'],
      ['a'.repeat(40), 'y'],
    ];
    expect(tableOf(['KEY', 'HELD AS'], rows, 30)).toEqual([
      'KEY                    HELD AS',
      '東京                   x',
      `${'a'.repeat(20)}…  y`,
    ]);
  });
});

describe('a span of time', () => {
  it.each([
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [1_000, '1 s'],
    [59_999, '59 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [90_000_000, '1 d 1 h'],
    [Infinity, 'no end'],
  ])('of %d ms is %j', (ms, text) => {
    expect(span(ms)).toBe(text);
  });
});

describe('user and password', () => {
  const env = { REDIS_USERNAME: 'theirs', REDIS_PASSWORD: 'of-env' };
  const ofUrl = { username: 'ops', password: 'of-url' };

  it.each([
    ['neither', 'redis://a:1', { username: 'theirs', password: 'of-env' }],
    ['a user', 'redis://ops@a:1', { username: 'ops', password: 'of-env' }],
    ['a password', 'redis://:of-url@a:1', { username: 'theirs', password: 'of-url' }],
    ['both', 'redis://ops:of-url@a:1', ofUrl],
  ])('of the environment are what a URL has not that has %s', (_, url, expected) => {
    expect(connectionOptionsOf({ url }, env)).toMatchObject(expected);
    expect(connectionOptionsOf({}, { ...env, REDIS_URL: url })).toMatchObject(expected);
    expect(connectionOptionsOf({ cluster: `${url},b:1` }, env)).toMatchObject(expected);
    expect(connectionOptionsOf({ cluster: `rediss://b:1, ${url}` }, env)).toMatchObject({
      ...expected,
      tls: {},
    });
  });

  it('are left out where neither says them', () => {
    for (const place of [{ url: 'redis://a:1' }, { cluster: 'redis://a:1' }]) {
      expect(connectionOptionsOf(place, {})).not.toHaveProperty('username');
      expect(connectionOptionsOf(place, {})).not.toHaveProperty('password');
    }
  });
});

describe('Sentinels', () => {
  const where = { sentinel: 'a, b:2', master: 'main' };
  const sentinels = [
    { host: 'a', port: 26_379 },
    { host: 'b', port: 2 },
  ];

  it('are asked for the primary of a name, and that for a database', () => {
    const found = connectionOptionsOf({ ...where, db: '5' }, {});
    expect(found).toMatchObject({ sentinels, name: 'main', db: 5 });
    for (const name of ['tls', 'sentinelTLS', 'enableTLSForSentinelMode', 'sentinelPassword'])
      expect(found).not.toHaveProperty(name);
  });

  it('have users and passwords of their own, beside those of Redis', () => {
    const env = {
      REDIS_USERNAME: 'ours',
      REDIS_PASSWORD: 'of-redis',
      REDIS_SENTINEL_USERNAME: 'theirs',
      REDIS_SENTINEL_PASSWORD: 'of-sentinels',
    };
    expect(connectionOptionsOf(where, env)).toMatchObject({
      username: 'ours',
      password: 'of-redis',
      sentinelUsername: 'theirs',
      sentinelPassword: 'of-sentinels',
    });
  });

  it('are spoken to by TLS, as Redis is, where that is asked for', () => {
    const ca = readFileSync('package.json');
    for (const [values, tls] of [
      [{ tls: true }, {}],
      [{ ca: 'package.json' }, { ca }],
    ] as const) {
      const found = connectionOptionsOf({ ...where, ...values }, {});
      const both = { tls, sentinelTLS: tls, enableTLSForSentinelMode: true };
      expect(found).toMatchObject({ sentinels, ...both });
    }
  });
});

describe('TLS', () => {
  const file = 'package.json';
  const text = readFileSync(file);

  it.each<[by: string, values: Values, tls: object | undefined]>([
    ['not spoken without a reason', { url: 'redis://a' }, undefined],
    ['spoken by --tls', { tls: true }, {}],
    ['spoken by a URL', { url: 'rediss://a' }, {}],
    ['spoken where --ca names an authority', { ca: file }, { ca: text }],
    ['spoken where --servername names a server', { servername: 'redis' }, { servername: 'redis' }],
    ['spoken with a certificate', { cert: file, key: file }, { cert: text, key: text }],
    ['spoken to a Cluster by --tls', { cluster: 'a:1', tls: true }, {}],
    ['spoken to a Cluster by one of its URLs', { cluster: 'a:1,rediss://b:2' }, {}],
  ])('is %s', (_by, values, tls) => {
    expect((connectionOptionsOf(values, {}) as { tls?: object }).tls).toEqual(tls);
  });
});

describe('a number or a time of an option', () => {
  const bounds = { min: 100, max: 5_000 };

  it('may be at its bounds, not beyond them', () => {
    expect(['1', '10'].map((given) => numberOf('limit', given, 10))).toEqual([1, 10]);
    expect(['100ms', '5s'].map((given) => timeOf('for', given, bounds))).toEqual([100, 5_000]);
    for (const given of ['0', '11', '-1', '1.5', '1e1', ''])
      expect(() => numberOf('limit', given, 10)).toThrow('from 1 to 10.');
    for (const given of ['99ms', '5001ms', ''])
      expect(() => timeOf('for', given, bounds)).toThrow('from 100 ms to 5000 ms');
  });
});

describe('the help', () => {
  it('has every command and every option', () => {
    const absent = [
      ...Object.keys(COMMANDS).filter((name) => !HELP.includes(`\n  ${name} `)),
      ...Object.keys(OPTIONS).filter(
        (name) => !new RegExp(`^  (-\\w, )?--${name} `, 'm').test(HELP),
      ),
    ];
    expect(absent).toEqual([]);
  });

  it('fits a terminal of 90 columns', () => {
    expect(Math.max(...HELP.split('\n').map((line) => line.length))).toBeLessThanOrEqual(90);
  });
});

describe('the words of the command line', () => {
  const sources = ['lib/engine/redis', 'lib/engine/options']
    .flatMap((folder) => filesBelow(folder, '.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
    .replaceAll('${connectTimeout}', '');

  it.each(WORDING)('stand for %j, which the library still says', (library) => {
    expect(sources).toContain(library);
  });
});

describe('a key under the prefix', () => {
  it.each([
    ['lock:a', 'lock'],
    ['lock:{a}:b', 'lock'],
    ['{lock:a}:queue', 'beside'],
    ['lock:{a}:b:holders', 'beside'],
    ['lock:{}:fence', 'fence'],
    ['lock:{1095}:fence', 'fence'],
    ['lock:{}:generation', 'generation'],
    ['{lock:a}:fence', 'old'],
    ['{lock:a}:cond:full', 'old'],
    ['{lock:a}:else', 'foreign'],
    ['lock:{a', 'foreign'],
    ['lock:a\u0000', 'foreign'],
    ['{lock:}:queue', 'foreign'],
  ])('%j is %s', (key, kind) => {
    expect(kindOf(key, 'lock:', 512)).toBe(kind);
  });

  it('is known whatever the protocol keeps beside a lock', () => {
    const page = readFileSync('docs/protocol.md', 'utf8');
    const suffixes = [...page.matchAll(/^\| `<base>:(\w+)`/gm)].map(([, suffix]) => suffix!);
    expect(suffixes.length).toBeGreaterThan(4);
    expect(suffixes.map((suffix) => kindOf(`{lock:a}:${suffix}`, 'lock:', 512))).toEqual(
      suffixes.map(() => 'beside'),
    );
  });

  it('is known without a prefix', () => {
    expect(kindOf('{a}{}:queue', '', 512)).toBe('beside');
    expect(kindOf('{a}:queue', '', 512)).toBe('beside');
  });
});
