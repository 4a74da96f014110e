import { expect, it } from '@jest/globals';
import { storeFailure, systemCodeOf } from '../../lib/engine/redis/store-failure.js';

it.each([
  [
    'Redis 6.2',
    'ERR Error running script (call to f_bac8): @user_script:1: @user_script: 1: Unknown Redis command called from Lua script',
  ],
  ['Redis 8', 'ERR Unknown Redis command called from script script: bac8, on @user_script:1.'],
  ['Valkey 9.0', 'ERR Unknown command called from script script: bac8, on @user_script:1.'],
  ['Valkey 9.1', 'ERR Unknown command called from script script: on @user_script:1.'],
])('a script that calls a disabled command is told apart from a command, on %s', (_, text) => {
  expect(storeFailure(new Error(text), 'k')).toMatchObject({
    message: expect.stringContaining('a script called a command that Redis does not know'),
    outcome: 'refused',
    retryable: false,
  });
});

it('a command that the server does not know is named', () => {
  const error = new Error("ERR unknown command 'evalsha', with args beginning with: 'k' 'secret'");
  const failure = storeFailure(error, 'k');
  expect(failure).toMatchObject({ outcome: 'refused', retryable: false });
  expect(failure.message).toContain('Redis does not know the command EVALSHA');
  expect(failure.message).not.toContain('secret');
});

it.each(['MOVED 7 10.0.0.1:7000', 'ASK 7 10.0.0.1:7000', 'TRYAGAIN Multiple keys request'])(
  'who is told of "%s" after all is told in an error that is public',
  (text) => {
    const { name, code } = storeFailure(new Error(text), 'k');
    expect({ name, code }).toEqual({ name: 'LockStoreError', code: 'LOCK_STORE' });
  },
);

it.each<[unknown, string | undefined]>([
  ['ECONNREFUSED', 'ECONNREFUSED'],
  ['redis://user:hunter2@host', undefined],
  [111, undefined],
  [undefined, undefined],
])('of a code %j, %j is said', (code, said) => {
  expect(systemCodeOf(Object.assign(new Error(), { code }))).toBe(said);
});
