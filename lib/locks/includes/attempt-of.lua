-- Which attempt of this holder a node's vote stands for, `<holder>/<attempt>`; nil if it is another's or nobody's.
local function attempt_of(current, holder)
  if type(current) ~= 'string' or string.sub(current, 1, #holder + 1) ~= holder .. '/' then
    return nil
  end
  return tonumber(string.sub(current, #holder + 2))
end
