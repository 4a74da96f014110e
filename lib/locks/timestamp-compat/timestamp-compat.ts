import { LuaScript } from '../../redis/index.js';
import rememberStanding from './remember-standing.lua.js';
import undoOverwriting from './undo-overwriting.lua.js';

const known = new Map<LuaScript, LuaScript>();

/**
 * A step of a lock of our own beside clients of the SETNX articles: before it, what they left or wrote over the lock is undone;
 * after it, what of ours it put there is remembered in one key more, behind the others, while that may happen again.
 */
export function besideTimestamps(script: LuaScript): LuaScript {
  let made = known.get(script);
  if (!made) known.set(script, (made = between(script)));
  return made;
}

function between({ source, keys, args }: LuaScript): LuaScript {
  const width = keys.length + 1;
  const answers = source.includes('#KEYS') ? 'answers' : 'answers[1]';
  const drops = args.includes('arrival'); // only who asks takes over
  const text = `${undoOverwriting}
${rememberStanding}
local function step(KEYS, ARGV)
${source}
end
local turns, answers = #KEYS / ${width}, {}
local operands = #ARGV / turns
for nth = 1, turns do
  local at, from = (nth - 1) * ${width}, (nth - 1) * operands
  local grant = KEYS[at + ${width}]
  local before = undo_overwriting(KEYS[at + 1], grant, ${drops})
  local answer = step({ unpack(KEYS, at + 1, at + ${keys.length}) }, { unpack(ARGV, from + 1, from + operands) })
  answers[nth] = ${answers === 'answers' ? 'answer[1]' : 'answer'}
  remember_standing(KEYS[at + 1], grant, before)
end
return ${answers}`;
  return new LuaScript(text);
}
