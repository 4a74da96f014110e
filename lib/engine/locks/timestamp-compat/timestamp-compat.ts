import { LuaScript } from '../../redis/index.js';
import rememberStanding from './remember-standing.lua.js';
import undoOverwriting from './undo-overwriting.lua.js';

const known = new Map<LuaScript, LuaScript>();

/**
 * Wraps a native step for use beside clients of the SETNX articles. Before the step, their values and overwrites at the lock
 * are undone. After the step, our value is recorded in one more key behind the others, while an overwrite may happen again.
 */
export function besideTimestamps(script: LuaScript): LuaScript {
  let made = known.get(script);
  if (!made) known.set(script, (made = between(script)));
  return made;
}

function between({ step, keys, args, name }: LuaScript): LuaScript {
  const width = keys.length + 1;
  const drops = args.includes('arrival'); // only a script that asks for the lock may delete a time that is past
  const text = `${undoOverwriting}
${rememberStanding}
local function step(KEYS, ARGV)
${step}
end
local before, names = {}, {}
for at = 1, #KEYS, ${width} do
  local grant = KEYS[at + ${width - 1}]
  before[at] = undo_overwriting(KEYS[at], grant, ${drops})
  for nth = at, at + ${width - 2} do
    names[#names + 1] = KEYS[nth]
  end
end
local answer = step(names, ARGV)
for at = 1, #KEYS, ${width} do
  remember_standing(KEYS[at], KEYS[at + ${width - 1}], before[at])
end
return answer`;
  const script = new LuaScript(text);
  script.name = `${name}Guarded`;
  return script;
}
