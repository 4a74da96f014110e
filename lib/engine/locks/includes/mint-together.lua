-- The tokens of a lock that was free, as mint_fencing_tokens gives them. Runs that leave in one script share them: a lock that is free was granted to nobody
-- before in this script, so that all its earlier tokens are smaller; and whatever is granted later has greater ones.
--- @include "mint-fencing-tokens"
local MINTED = { first = 0, last = -1 }
local function mint_together(fence, now, count)
  if MINTED.last - MINTED.first + 1 < count then
    MINTED.first, count = mint_fencing_tokens(fence, now, count)
    MINTED.last = MINTED.first + count - 1
  end
  return MINTED.first, count
end
