-- The process of a holder, or of an entry: what its id begins with.
local function process_of(id)
  return string.match(id, '^[^/]+')
end
