// test_sizes.js - traces of extreme sizes open, say what they are, and can be moved about in.
"use strict";
const { assert, done, test } = require("./tap");
const { View, launch, makeTrace, serve } = require("./viewer");

const DAY = 86_400_000_000_000;

function* range(count) {
    for (let i = 0; i < count; i++) {
        yield i;
    }
}

/** Name, what the page must say, the lines of the trace, and the number of rows of its first thread. */
const TRACES = [
    ["nothing", /0 calls/, ["process 1 none"], 0],
    ["no-events", /0 calls/, ["process 1 none", "thread 1 idle"], 0],
    ["one-event", /1 call\b/, ["process 1 one", "thread 1 main", "5 enter main"], 1],
    [
        "one-call",
        /1 call\b/,
        ["process 1 one", "thread 1 main", "5 enter main", "6 exit", "6 close"],
        1,
    ],
    [
        "threads",
        /5,000 threads/,
        [
            "process 1 many",
            ...[...range(5000)].flatMap((i) => [
                `thread ${i + 1} worker-${i}`,
                `${i * 10} enter work`,
                `${i * 10 + 1000} exit`,
                `${i * 10 + 1000} close`,
            ]),
        ],
        1,
    ],
    [
        "deep",
        /100,000|100K|100k/,
        [
            "process 1 deep",
            "thread 1 main",
            ...[...range(100_000)].map((i) => `${i} enter f${i % 10}`),
            ...[...range(100_000)].map((i) => `${200_000 + i} exit`),
            "300000 close",
        ],
        100_000,
    ],
    [
        "day",
        /1 call\b/,
        ["process 1 long", "thread 1 main", "0 enter main", `${DAY} exit`, `${DAY} close`],
        1,
    ],
    [
        "short",
        /1,000 calls|1K calls|1k calls/,
        [
            "process 1 short",
            "thread 1 main",
            ...[...range(1000)].flatMap((i) => [`${i * 2} enter f`, `${i * 2 + 1} exit`]),
            "2000 close",
        ],
        1,
    ],
];

async function run() {
    const browser = await launch();
    for (const [name, said, lines, rows] of TRACES) {
        const server = await serve(makeTrace(`${name}.nst`, lines.join("\n")));
        const view = await View.open(browser, server.address);
        await test(`${name}: opens and says what it is`, async () => {
            assert.match(await view.text("header"), said);
            assert.deepEqual(view.wrong, []);
        });
        if (rows > 0) {
            await test(`${name}: calls are painted`, async () => {
                const picture = await view.picture();
                const { x, y } = await view.places(0, 0);
                const { from, to } = await view.window();
                const seen = picture.at(x(from + (to - from) / 2), y);
                assert.ok(picture.colours(201, Math.round(y) - 8, 1000, 24) > 1, seen);
            });
        }
        if (name === "short" || name === "day") {
            await test(`${name}: the minimap reaches the end`, async () => {
                const picture = await view.picture();
                assert.notEqual(picture.at(1270, 70), picture.at(190, 70));
            });
        }
        await test(`${name}: every panel, every way to move`, async () => {
            const panels = await view.page.$$eval('[role="tab"]', (tabs) => tabs.length);
            for (let i = 1; i <= Math.min(panels, 9); i++) {
                await view.press(String(i));
            }
            await view.press(
                "w",
                "w",
                "w",
                "d",
                "a",
                "s",
                "End",
                "Home",
                "PageDown",
                "PageUp",
                "0",
            );
            await view.press("Enter");
            await view.press("f");
            await view.press("v");
            await view.press("Escape");
            assert.deepEqual(view.wrong, []);
        });
        await view.close();
        await server.end();
    }
    await browser.close();
    done();
}

void run();
