// test_pair.js - two traces are open: each can be looked at, and odd ones open and make sense.
"use strict";
const { assert, done, test } = require("./tap");
const { View, describedTrace, launch, makeTrace, serve } = require("./viewer");

async function calls(view) {
    return await view.page.evaluate(() => globalThis.nanoscope.app.trace.calls);
}

async function pair(browser) {
    const after = makeTrace(
        "after.nst",
        "process 1 p\nthread 1 main\n0 enter other\n20000000 exit\n20000000 close\n",
    );
    const server = await serve(describedTrace("tests/viewer/browser/traces/known.txt"), after);
    const view = await View.open(browser, server.address);
    await test("of two traces the first is shown", async () => {
        assert.equal(await view.text("h1"), "known.nst");
        assert.equal(await view.text("[aria-pressed=true]"), "A before");
    });
    await test("the other one is a click away, and its address leads there", async () => {
        await Promise.all([
            view.page.waitForNavigation(),
            view.page.evaluate(() => document.querySelector("[aria-pressed=false]").click()),
        ]);
        await view.page.waitForSelector(".page");
        await view.rest();
        assert.equal(await view.text("h1"), "after.nst");
        assert.match(await view.text("tbody"), /other/);
        const again = await View.open(browser, view.page.url());
        assert.equal(await again.text("h1"), "after.nst");
        await again.close();
        assert.deepEqual(view.wrong, []);
    });
    await server.end();
}

/** @text: what make_trace reads. */
async function odd(browser, name, text, look) {
    const server = await serve(makeTrace(`${name}.nst`, text));
    const view = await View.open(browser, server.address);
    await test(`${name}: opens and makes sense`, async () => {
        await look(view);
        await view.press("w", "w", "s", "0", "C", "C", "Enter", "2", "1");
        assert.deepEqual(view.wrong, []);
    });
    await view.close();
    await server.end();
}

const HEAD = "process 1 p\nthread 1 main\n";

async function oddOnes(browser) {
    await odd(browser, "no-calls", `${HEAD}0 close\n`, async (view) => {
        assert.equal(await calls(view), 0);
        assert.match(await view.text(".panel:not([hidden])"), /No calls/);
    });
    await odd(browser, "one-event", `${HEAD}5 enter alone\n`, async (view) => {
        assert.match(await view.text("tbody"), /alone/);
    });
    const day = 86_400 * 1e9;
    await odd(
        browser,
        "a-day",
        `${HEAD}0 enter long\n${day / 2} enter short\n${day / 2 + 1} exit\n${day} exit\n${day} close\n`,
        async (view) => {
            assert.match(await view.text("tbody"), /long\|?\s*1\s+1 d/);
            await view.page.evaluate(
                (time) => globalThis.nanoscope.app.show({ from: time - 20, to: time + 20 }),
                day / 2,
            );
            await view.rest();
            const { x, y } = await view.places(0, 1);
            await view.page.mouse.click(x(day / 2 + 0.5), y + 4);
            await view.rest();
            assert.match(await view.text(".panel:not([hidden])"), /1 ns/);
            await view.press("1");
        },
    );
    const deep = 3000;
    const steps = [];
    for (let i = 0; i < deep; i++) {
        steps.push(`${i * 10} enter level${i % 40}`);
    }
    for (let i = 0; i < deep; i++) {
        steps.push(`${(deep + i) * 10} exit`);
    }
    await odd(browser, "deep", `${HEAD}${steps.join("\n")}\n`, async (view) => {
        await view.page.evaluate((depth) => {
            const { app } = globalThis.nanoscope;
            void app.pickCall(0, depth * 10 + 5, depth);
        }, deep - 1);
        await view.rest();
        const found = await view.page.evaluate(() => ({
            call: globalThis.nanoscope.app.call.depth,
            top: document.querySelector(".tracks").scrollTop,
        }));
        assert.equal(found.call, deep - 1);
        assert.ok(found.top > (deep - 60) * 18, "it is scrolled into sight");
    });
    const threads = ["process 1 p"];
    for (let i = 0; i < 5000; i++) {
        threads.push(
            `thread ${i + 1} t${i}`,
            `${i} enter f`,
            `${i + 1000} exit`,
            `${i + 1000} close`,
        );
    }
    await odd(browser, "many-threads", `${threads.join("\n")}\n`, async (view) => {
        assert.match(await view.text("header"), /5,000 threads/);
        await view.press("End", "PageDown");
        assert.ok((await view.page.$$(".tracks [role=row]")).length < 400);
    });
}

async function run() {
    const browser = await launch();
    await pair(browser);
    await oddOnes(browser);
    await browser.close();
    done();
}

void run();
