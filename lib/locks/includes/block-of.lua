-- What a fence says when a grant has reserved `count` tokens up to `last`: the last, and of several in a fraction how many. It is too small for a double of this size, so whoever reads a number reads the last token.
local function block_of(last, count)
  return count > 1 and string.format('%.0f.%04d', last, count) or last
end
