-- Which attempt of this holder a node's vote stands for, and the first token that the node gave it, `<holder>/<attempt>/<token>`; nil if it is another's or nobody's.
local function attempt_of(current, holder)
  if type(current) ~= 'string' or string.sub(current, 1, #holder + 1) ~= holder .. '/' then
    return nil
  end
  local attempt, token = string.match(current, '^(%d+)/(%d+)$', #holder + 2)
  return tonumber(attempt), tonumber(token)
end
