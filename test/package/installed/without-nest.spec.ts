import { beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Consumer, INSTALLING, type Outcome } from '../consumer.js';
import { Place } from './place.js';

const place = new Place();

describe('an empty folder with ioredis and without Nest', () => {
  let bare: Consumer;
  beforeAll(async () => {
    bare = await Consumer.bare(place.tarball, place.folder, ['ioredis']);
  }, INSTALLING);

  const npx = (words: string[], env = {}): Promise<Outcome> =>
    bare.run('npx', ['--no-install', 'nest-redis-lock', ...words], {
      REDIS_URL: place.redis.url,
      ...env,
    });

  it('has each command', async () => {
    const admin = new Redis(place.redis.url);
    await admin.set('lock:a', `web-1.17.${'a'.repeat(11)}/${'b'.repeat(22)}`, 'PX', 3_600_000);
    admin.disconnect();
    const watched = await npx(['watch', '--for=0ms']);
    expect(watched).toMatchObject({ code: 0, stdout: expect.stringContaining('web-1 pid 17') });
    expect(await npx(['inspect', 'a'])).toMatchObject({ code: 0 });
    expect(await npx(['release', 'a', '--yes'])).toMatchObject({
      code: 0,
      stdout: 'Lock "a" was released.\n',
    });
    expect((await npx(['list'])).stdout).toBe('No lock is held.\n');
    const doctor = await npx(['doctor']);
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 problems/m) });
  });

  it('says in a sentence what is wrong, and shows no password', async () => {
    const url = 'redis://us3r:pl4ntedw0rd@127.0.0.1';
    const wrong = [
      [await npx(['list'], { REDIS_URL: `${url}:${place.redis.port}` }), 3, 'WRONGPASS'],
      [await npx(['list'], { REDIS_URL: `${url}#:1` }), 2, 'percent-encode'],
      [await npx(['inspect']), 2, 'inspect needs the key of a lock'],
      [await npx(['lst']), 2, 'There is no command "lst".'],
    ] as const;
    for (const [{ code, stdout, stderr }, ends, says] of wrong) {
      expect({ code, stdout }).toEqual({ code: ends, stdout: '' });
      expect(stderr).toContain(says);
      expect(stderr).not.toMatch(/us3r|pl4ntedw0rd|\n {4}at /);
    }
  });
});
