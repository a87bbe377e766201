-- What bench/run gives to Lua: tables, strings, closures, recursion; no error(), which other tracers
-- do not survive.
local n = tonumber(arg and arg[1]) or 30

local function fib(k) return k < 2 and k or fib(k - 1) + fib(k - 2) end

local function text(count)
    local parts = {}
    for i = 1, count do
        parts[#parts + 1] = string.format("%d:%s", i, ("x"):rep(i % 7))
    end
    return table.concat(parts, ",")
end

local total = 0
for round = 1, n do
    for item in text(2000):gmatch("[^,]+") do
        total = total + #item
    end
    local list = {}
    for i = 1, 2000 do list[i] = (i * 7919 + round) % 4001 end
    table.sort(list, function(a, b) return a < b end)
    total = total + list[1000]
end
print(total, fib(21))
