-- The process of a holder, or of a place: what its id begins with.
local function process_of(id)
  return string.match(id, '^[^/]+')
end
