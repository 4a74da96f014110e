// Set up before each spec while reach is recorded: writes down which test ran which Lua script.
import { afterAll, expect } from '@jest/globals';
import { appendFileSync } from 'node:fs';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { ScriptRunner } from '../../lib/memory/script-runner.js';

const ran = new Map();

function note({ step }) {
  const tests = ran.get(step) ?? new Set();
  // Before the first test: of none.
  ran.set(step, tests.add(expect.getState().currentTestName ?? ''));
}

/** Calls `note` with the script of each run, as `scriptOf` finds it. */
function watch(prototype, scriptOf) {
  const right = prototype.run;
  prototype.run = function (...operands) {
    note(scriptOf(operands[0]));
    return right.apply(this, operands);
  };
}

watch(RedisConnection.prototype, ({ script }) => script);
watch(ScriptRunner.prototype, (script) => script);

afterAll(() => {
  const lines = [...ran].map(
    ([source, tests]) => `${JSON.stringify({ source, tests: [...tests] })}\n`,
  );
  appendFileSync(process.env.SCRIPTS_RAN, lines.join(''));
});
