// What a file that tools/test/groups.mjs writes does with each of its specs.
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

/** What Jest knows of the tests of this file. */
const circus =
  globalThis[
    Object.getOwnPropertySymbols(globalThis).find(
      (each) => each.description === 'JEST_STATE_SYMBOL',
    )
  ];

/**
 * Loads a spec, whose tests and hooks become those of a `describe` that has its path as name; what `describe` itself
 * calls has to be synchronous. The spec's tests find the environment and Nest's logger as it left them when it was
 * loaded. Another spec finds both as they were before, real timers, and no spies.
 */
export async function spec(path, load) {
  const around = circus.currentDescribeBlock;
  const before = settings();
  let loaded = before;
  let block;
  describe(`${path}`, () => {
    block = circus.currentDescribeBlock;
  });
  circus.currentDescribeBlock = block;
  beforeAll(() => set(loaded));
  try {
    await load();
    if (block.children.length === 0) throw new Error(`${path} has no tests`);
  } catch (error) {
    it('can be loaded', () => {
      throw error;
    });
  }
  afterAll(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
  circus.currentDescribeBlock = around;
  loaded = settings();
  set(before);
}

function settings() {
  return { env: { ...process.env }, logger: Logger.staticInstanceRef, levels: Logger.logLevels };
}

function set({ env, logger, levels }) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Logger.overrideLogger(logger ?? false);
  Logger.logLevels = levels;
}
