-- Whether what stands at a lock's name says that a native caller holds it, or readers do: an id of ours, behind which a token may be. In a dialect, a mark is behind the id.
local function is_native_holder(current)
  return current == SHARED or string.find(current, '^[%w_-]+%.%d+%.[%w_-]+/[%w_/-]+$') ~= nil
end
