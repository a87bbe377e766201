// test_reach.js - everything can be reached: the last of many tracks and of many rows, by scrolling and by a search, and the
// calls of a function from the search box.
"use strict";
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { assert, done, test } = require("./tap");
const { View, folder, launch, makeTrace, nanoscope, serve } = require("./viewer");

const THREADS = 80;
const DEEP = 60;

/** Many threads, of which the last one alone calls `rare`; the first one calls deeply. */
function manyThreads() {
    const lines = ["process 1 many"];
    for (let i = 1; i <= THREADS; i++) {
        lines.push(`thread ${i} thread`, "0 enter work");
        if (i === 1) {
            for (let depth = 0; depth < DEEP; depth++) {
                lines.push(`${depth + 1} enter level${depth}`);
            }
            for (let depth = DEEP; depth > 0; depth--) {
                lines.push(`${9000 - depth} exit`);
            }
        } else if (i === THREADS) {
            for (const at of [1000, 3000, 6000]) {
                lines.push(`${at} enter rare`, `${at + 100 + at / 10} exit`);
            }
        }
        // Those with most calls stand first.
        for (let at = 7000; i > 1 && i < THREADS && at < 7600; at += 100) {
            lines.push(`${at} enter often`, `${at + 50} exit`);
        }
        lines.push("9500 exit", "10000 close");
    }
    return makeTrace("many.nst", `${lines.join("\n")}\n`);
}

/** How the tracks are scrolled, and where the last of them is. */
async function scrolled(view) {
    return await view.page.evaluate(() => {
        const { layout } = globalThis.nanoscope.timeline;
        const { scrollTop, scrollHeight, clientHeight } = document.querySelector(".tracks");
        const last = layout.lanes.at(-1);
        return {
            scrollTop,
            scrollHeight,
            clientHeight,
            height: layout.height,
            end: last.y + last.height,
        };
    });
}

async function scrollDown(view, selector = ".tracks") {
    await view.page.$eval(selector, (box) => {
        box.scrollTop = 1e9;
    });
    await view.rest();
}

async function call(view) {
    return await view.page.evaluate(() => globalThis.nanoscope.app.call);
}

async function lastIsReached(view) {
    await scrollDown(view);
    const now = await scrolled(view);
    assert.ok(now.height > 2 * now.clientHeight, "many tracks");
    assert.equal(now.scrollHeight, Math.ceil(now.height));
    assert.ok(now.scrollTop + now.clientHeight >= now.end, JSON.stringify(now));
    // The strip of its calls in its head.
    const picture = await view.picture();
    const box = await view.page.$eval(".tracks", (tracks) =>
        tracks.getBoundingClientRect().toJSON(),
    );
    const bottom = box.top + now.end - now.scrollTop;
    assert.ok(bottom <= box.bottom + 1, `${bottom} in ${box.bottom}`);
    assert.notEqual(picture.at(700, bottom - 11), picture.at(700, bottom - 2), "it is painted");
}

async function search(view, text) {
    await view.press("/");
    await view.page.keyboard.type(text);
    await view.press("Enter");
}

async function run() {
    const trace = manyThreads();
    const server = await serve(trace);
    const browser = await launch();
    const view = await View.open(browser, server.address);

    await test("the last track can be scrolled into sight", async () => await lastIsReached(view));
    await test("a search that is over at once goes to a call of the last thread", async () => {
        await view.page.$eval(".tracks", (box) => {
            box.scrollTop = 0;
        });
        const last = await view.page.evaluate(
            () => globalThis.nanoscope.timeline.layout.lanes.at(-1).thread,
        );
        assert.equal(last, THREADS - 1);
        await search(view, "rare");
        const found = await call(view);
        assert.equal(found?.thread, THREADS - 1);
        assert.equal(found.start, 6000, "the longest");
        const { y } = await view.places(THREADS - 1, found.depth);
        const box = await view.page.$eval(".tracks", (tracks) =>
            tracks.getBoundingClientRect().toJSON(),
        );
        assert.ok(y > box.top && y + 12 < box.bottom, `${y} in ${box.top} to ${box.bottom}`);
    });
    await test("then p and n go from call to call, and are not typed", async () => {
        await view.press("p");
        assert.equal((await call(view)).start, 3000);
        await view.press("p");
        assert.equal((await call(view)).start, 1000);
        await view.press("n");
        assert.equal((await call(view)).start, 3000);
        assert.equal(await view.page.$eval(".search", (box) => box.value), "rare");
        assert.equal(
            await view.page.evaluate(() => document.activeElement.getAttribute("role")),
            "treegrid",
        );
    });
    await test("what is chosen from the list takes the focus along, too", async () => {
        await view.press("/", "ArrowDown", "Enter", "p"); // there is none after the longest
        assert.equal(await view.page.$eval(".search", (box) => box.value), "rare");
    });
    await test("a search without a hit keeps the focus", async () => {
        await search(view, "nothing of that name");
        assert.equal(await view.page.evaluate(() => document.activeElement.className), "search");
        await view.press("Escape", "Escape");
    });
    await test("the deepest row of a flame graph can be scrolled into sight", async () => {
        await view.panel("Flame graph");
        await scrollDown(view, "#panel-flame .flame-scroller");
        const { scrollTop, clientHeight } = await view.page.$eval(
            "#panel-flame .flame-scroller",
            (box) => ({ scrollTop: box.scrollTop, clientHeight: box.clientHeight }),
        );
        // `work`, and all levels below it.
        assert.ok(scrollTop + clientHeight >= 18 * (DEEP + 1), `${scrollTop} + ${clientHeight}`);
    });
    await test("nothing went wrong meanwhile", async () => assert.deepEqual(view.wrong, []));
    await view.close();
    await server.end();

    await test("the last track is reached in a page in one file, too", async () => {
        const file = path.join(folder, "many.html");
        execFileSync(nanoscope, ["export", "-o", file, trace]);
        const page = await View.open(browser, `file://${file}`);
        await lastIsReached(page);
        assert.deepEqual(page.wrong, []);
        await page.close();
    });
    await browser.close();
    done();
}

void run();
