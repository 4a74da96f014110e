// Set up before each spec while reach is recorded: writes down which Lua scripts the spec ran.
import { afterAll } from '@jest/globals';
import { appendFileSync } from 'node:fs';
import { LuaScript } from '../../lib/redis/lua-script.js';

const ran = new Set();
const right = Object.getOwnPropertyDescriptor(LuaScript.prototype, 'argList').value;
LuaScript.prototype.argList = function (...operands) {
  ran.add(this.source);
  return right.apply(this, operands);
};

afterAll(() => {
  const lines = [...ran].map((source) => `${JSON.stringify(source)}\n`);
  appendFileSync(process.env.SCRIPTS_RAN, lines.join(''));
});
