import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Socket } from 'node:net';
import { freePort } from '../../tools/redis-server.js';
import { asked, command, endCommands, inProcess } from '../support/command.js';
import { SECRET, WRONG } from './wrong-command-lines.js';

afterEach(endCommands);

describe('a command line that is wrong', () => {
  it.each(WRONG)('%j ends with 2 and a sentence that says what to do', async (words, says) => {
    const { code, stdout, stderr } = await inProcess(words);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(says),
    });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
    expect(stderr).not.toMatch(SECRET);
    expect(stderr).not.toMatch(/\p{Cc}(?<!\n)|undefined|\n {4}at /u);
  });

  it('is told to programs in JSON', async () => {
    expect(await asked(['lst'])).toEqual({
      code: 2,
      answer: { error: { code: 'USAGE', message: expect.stringContaining('There is no command') } },
    });
    expect((await asked(['inspect', ''])).answer.error.code).toBe('LOCK_KEY');
  });

  it('may be that of the environment', async () => {
    const { code, stderr } = await command(['list'], { REDIS_URL: 'us3r:pl4ntedw0rd@host' });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('Option REDIS_URL takes a URL'),
    });
    expect(stderr).not.toMatch(SECRET);
  });
});

describe('help and version', () => {
  it.each([['--help'], ['-h'], ['help'], ['list --help']])('%s', async (words) => {
    const { code, stdout } = await command(words.split(' '));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: nest-redis-lock </m)]);
  });

  it.each([['--version'], ['-V']])('%s', async (word) => {
    expect(await command([word])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});

describe('a Redis that is not there', () => {
  let url: string;
  beforeAll(async () => {
    url = `redis://us3r:pl4ntedw0rd@127.0.0.1:${await freePort()}`;
  });

  it.each<[ends: number, ...words: string[]]>([
    [3, 'list'],
    [3, 'inspect', 'a'],
    [3, 'watch'],
    [3, 'release', 'a', '--yes'],
    [1, 'doctor'], // which has looked, and found that
  ])('ends with %i and a sentence: %s', async (ends, ...words) => {
    const { code, stdout, stderr } = await command([...words, '--timeout=500ms'], {
      REDIS_URL: url,
    });
    const said = stdout + stderr;
    expect(code).toBe(ends);
    expect(said).toMatch(
      /Redis at 127\.0\.0\.1:\d+\/0 could not be used within 500 ms \(--timeout\): .*ECONNREFUSED.* Start Redis there, or say where it is: --url, --cluster, --sentinel or REDIS_URL\.\n/,
    );
    expect(said).not.toMatch(SECRET);
  });

  it('and says nothing ends a command all the same', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const { code, stderr } = await command(['list', `--url=redis://127.0.0.1:${port}`]);
    silent.close();
    for (const socket of sockets) socket.destroy();
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('it accepts connections and says nothing'),
    });
  });

  it('is told to programs in JSON, too', async () => {
    const { code, answer } = await asked(['list', '--timeout=500ms'], { REDIS_URL: url });
    expect([code, answer]).toMatchObject([3, { error: { code: 'LOCK_STORE' } }]);
    const checked = await asked(['doctor', '--timeout=500ms'], { REDIS_URL: url });
    expect([checked.code, checked.answer]).toMatchObject([
      1,
      { findings: [{ check: 'connection', status: 'problem', servers: [] }] },
    ]);
    expect(JSON.stringify([answer, checked.answer])).not.toMatch(SECRET);
  });
});
