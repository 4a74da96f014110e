-- Whether what stands at a lock's name says that this holder has it alone: its id comes first, and behind it may be its first token.
local function held_by(holder, current)
  return type(current) == 'string' and string.find(current, holder, 1, true) == 1
end
