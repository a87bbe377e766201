-- About a second of ordinary work while recorded: text, tables, sorting, closures, errors, recursion.
-- Used by ./demo; prints what it found, so that a recorded run can be compared with a plain one.

local seed = 42
local function random(limit)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % limit + 1
end

local function sentence(words)
    local out = {}
    for i = 1, words do
        local letters = {}
        for j = 1, 2 + random(3) do
            letters[j] = string.char(96 + random(6))
        end
        out[i] = table.concat(letters)
    end
    return table.concat(out, " ")
end

local function count_words(text, counts)
    for word in text:gmatch("%a+") do
        counts[word] = (counts[word] or 0) + 1
    end
end

local function most_frequent(counts, n)
    local list = {}
    for word, count in pairs(counts) do
        list[#list + 1] = { word = word, count = count }
    end
    table.sort(list, function(a, b)
        if a.count ~= b.count then return a.count > b.count end
        return a.word < b.word
    end)
    local names = {}
    for i = 1, math.min(n, #list) do
        names[i] = list[i].word .. "=" .. list[i].count
    end
    return names
end

local function fib(n)
    return n < 2 and n or fib(n - 1) + fib(n - 2)
end

-- A function that fails now and then, as real code does.
local function picky(n)
    if n % 7 == 0 then error({ code = n }) end
    return n
end

local counts = {}
for _ = 1, 2500 do
    count_words(sentence(25), counts)
end

local failures = 0
for i = 1, 42000 do
    local ok, err = pcall(picky, i)
    if not ok and err.code == i then failures = failures + 1 end
end

print("most frequent: " .. table.concat(most_frequent(counts, 5), " "))
print("failures caught: " .. failures)
print("fib(27) = " .. fib(27))
