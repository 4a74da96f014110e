-- The first token of the holder that has the lock alone, as it stands behind its id, and 1; -1 and 0 for a holder without tokens.
local function first_token(current, holder)
  local token = tonumber(string.sub(current, #holder + 2))
  return token or -1, token and 1 or 0
end
