// Set up before each spec while reach is recorded: writes down which test ran which Lua script.
import { afterAll, expect } from '@jest/globals';
import { appendFileSync } from 'node:fs';
import { LuaScript } from '../../lib/engine/redis/lua-script.js';

const ran = new Map();
const right = Object.getOwnPropertyDescriptor(LuaScript.prototype, 'argList').value;
LuaScript.prototype.argList = function (...operands) {
  const tests = ran.get(this.step) ?? new Set();
  // Before the first test: of none.
  ran.set(this.step, tests.add(expect.getState().currentTestName ?? ''));
  return right.apply(this, operands);
};

afterAll(() => {
  const lines = [...ran].map(
    ([source, tests]) => `${JSON.stringify({ source, tests: [...tests] })}\n`,
  );
  appendFileSync(process.env.SCRIPTS_RAN, lines.join(''));
});
