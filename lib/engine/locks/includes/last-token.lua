-- The token that a fence or a version names; 0 where it names none, or one that no clock shows: somebody else wrote that.
local function last_token(text)
  local last = tonumber(text or '')
  return last and last >= 0 and last < AWAITING and last or 0
end
