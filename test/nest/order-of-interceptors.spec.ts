import { beforeAll, describe, expect, it } from '@jest/globals';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { transactional, uploads, witness } from './transactions-and-uploads.js';

const bench = useBench();
beforeAll(async () => {
  witness.locks = await bench.rival();
});

describe.each(PLATFORMS)('beside @UseInterceptors on %s, @LockedRequest', (platform) => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server(platform, { controllers: transactional }));
  });
  const stepsOf = async (path: string): Promise<string[]> => {
    witness.steps = [];
    expect(await (await fetch(`${url}/${path}`)).text()).toBe('done');
    return witness.steps;
  };

  it.each([
    'above',
    'below',
    'applied-first',
    'applied-last',
    'controller-above',
    'controller-below',
    'parent-transactional',
    'parent-locked',
    'inside-controller',
  ])('is around the transaction, in whatever order they stand: %s', async (path) => {
    expect(await stepsOf(path)).toEqual(['begin held', 'commit held']);
  });

  it('on a handler is inside the interceptors of its controller', async () => {
    expect(await stepsOf('around')).toEqual(['begin free', 'commit free']);
  });

  it('acts where LockInterceptor stands by hand beneath it', async () => {
    expect(await stepsOf('around/by-hand')).toEqual([
      'begin free',
      'begin free',
      'commit free',
      'commit free',
    ]);
  });
});

describe('@LockedRequest with a key from a multipart body', () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server('Express', { controllers: uploads }));
  });
  const post = (path: string): Promise<Response> => {
    const body = new FormData();
    body.append('id', '7');
    body.append('content', new Blob(['text']), 'a.txt');
    return fetch(`${url}/${path}`, { method: 'POST', body });
  };

  it.each(['by-hand', 'controller'])('has it of a FileInterceptor around it: %s', async (path) => {
    expect(await (await post(path)).text()).toBe('held');
  });

  it('answers 400 where the FileInterceptor is inside', async () => {
    expect((await post('inside')).status).toBe(400);
  });
});
