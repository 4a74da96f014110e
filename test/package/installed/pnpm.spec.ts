import { describe, it } from '@jest/globals';
import { Consumer, INSTALLING, PNPM } from '../consumer.js';
import { Place, startsAndLocks } from './place.js';

const place = new Place();

describe('an application that pnpm installed, which shows a package only what it names', () => {
  it(
    'is built, starts, locks in every way and ends by itself',
    async () => {
      const { tarball, folder, redis } = place;
      const consumer = await Consumer.install('nest-12', tarball, folder, PNPM);
      await startsAndLocks(consumer, redis.url);
    },
    INSTALLING,
  );
});
