-- Errors in all the places where Lua leaves C functions by a jump. Prints what it caught.
local log = {}
local function note(...)
    local t = table.pack(...)
    for i = 1, t.n do
        t[i] = tostring(t[i])
    end
    log[#log + 1] = table.concat(t, " ")
end

-- Calls that go on after a catch, deeper and deeper.
local function nest(n)
    if n == 0 then
        error({ code = 7 })
    end
    local ok, e = pcall(nest, n - 1)
    if n % 3 == 0 then
        error(e)
    end
    return type(e) == "table" and e.code + n or e
end
for n = 1, 40 do
    note("nest", n, select(2, pcall(nest, n)))
end

-- Errors thrown by the library and by the machine itself, below C functions.
local function compare(a, b)
    if a == 13 then
        error("unlucky", 0)
    end
    return a < b
end
note("sort", pcall(table.sort, { 5, 3, 13, 8, 1 }, compare))
note("gsub", pcall(string.gsub, "abc", "%w", function(c)
    if c == "b" then
        error("no b", 0)
    end
    return c:upper()
end))
note("arith", pcall(function()
    return {} + 1
end))
note("index", pcall(function()
    return (nil).x
end))
note("format", pcall(string.format, "%d", "x"))
note("load", load("x ="))
note("tostring", pcall(tostring, setmetatable({}, {
    __tostring = function()
        error("no name", 0)
    end,
})))

-- Stack overflow, and an error in the message handler.
local function forever(n)
    return 1 + forever(n + 1)
end
note("overflow", (select(2, pcall(forever, 1)):gsub(".*(stack overflow).*", "%1")))
note("handler", xpcall(error, function(m)
    return "handled " .. tostring(m)
end, "x"))
note("bad handler", (xpcall(error, error)))

-- Coroutines that yield across pcall, fail, and are closed.
local function generator(n)
    for i = 1, n do
        local ok, e = pcall(function()
            coroutine.yield(i)
            if i % 2 == 0 then
                error("even " .. i, 0)
            end
        end)
        if not ok then
            coroutine.yield(e)
        end
    end
    error("end of it", 0)
end
local co = coroutine.create(generator)
for i = 1, 12 do
    note("resume", coroutine.resume(co, 6))
end
local closed = coroutine.create(function()
    local x <close> = setmetatable({}, {
        __close = function()
            error("while closing", 0)
        end,
    })
    coroutine.yield(1)
end)
coroutine.resume(closed)
note("close", coroutine.close(closed))
note("wrap", pcall(coroutine.wrap(function()
    error("wrapped", 0)
end)))

-- Many of them.
local caught = 0
for i = 1, 3000 do
    local ok = pcall(function()
        if i % 3 ~= 0 then
            error(i)
        end
        return string.rep("x", i % 50):upper()
    end)
    caught = caught + (ok and 0 or 1)
end
note("caught", caught)
setmetatable({}, {
    __gc = function()
        note("gc")
        error("in a finalizer", 0)
    end,
})
warn("@off")
collectgarbage()
collectgarbage()
print(table.concat(log, "\n"))
error("the end", 0)
