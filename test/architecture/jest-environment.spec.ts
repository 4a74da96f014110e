import { expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';

type Made = new (config: object, context: object) => { teardown(): Promise<void> };

const tool = '../../tools/jest-environment.mjs';
const { default: Environment } = (await import(tool)) as { default: Made };

it('what a file of tests keeps for its promises ends with the file, and slows no other', async () => {
  const projectConfig = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} };
  const environment = new Environment({ globalConfig: {}, projectConfig }, { console });
  const storage = new AsyncLocalStorage<string>();
  await storage.run('of the file', async () => {
    expect(storage.getStore()).toBe('of the file');
    await environment.teardown();
    expect(storage.getStore()).toBeUndefined();
  });
});
