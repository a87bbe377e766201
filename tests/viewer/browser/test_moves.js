// test_moves.js - ways through a trace whose calls are known: wheel, drag and keys, measuring, from call to call, and what
// the page's own keys do.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { assert, done, test } = require("./tap");
const { View, launch, makeTrace, root, serve } = require("./viewer");

const ms = 1e6;
const WHOLE = { from: 0, to: 10 * ms };

function near(range, from, to, slack = 0.03 * ms) {
    const isNear = Math.abs(range.from - from) <= slack && Math.abs(range.to - to) <= slack;
    assert.ok(isNear, `${range.from} - ${range.to} for ${from} - ${to}`);
}

async function run() {
    const known = fs.readFileSync(path.join(root, "tests/viewer/browser/traces/known.txt"), "utf8");
    // More threads than are in sight.
    const more = Array.from(
        { length: 30 },
        (_, i) => `thread ${200 + i} more\n0 enter work\n1000000 exit\n1000000 close\n`,
    );
    const server = await serve(makeTrace("moves.nst", known + more.join("")));
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const { page } = view;
    const { mouse, keyboard } = page;
    const { x, y } = await view.places(0, 1);
    const state = async () =>
        await page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            return { range: app.range, call: app.call, hues: app.functions.by };
        });
    const show = async (from, to) => {
        await page.evaluate((range) => globalThis.nanoscope.app.show(range), { from, to });
        await view.rest();
    };
    const middle = async (selector) =>
        await page.$eval(selector, (box) => {
            const { top, height } = box.getBoundingClientRect();
            return top + height / 2;
        });
    const drag = async (fromX, fromY, toX, toY, key) => {
        if (key !== undefined) {
            await keyboard.down(key);
        }
        await mouse.move(fromX, fromY);
        await mouse.down();
        await mouse.move(toX, toY, { steps: 4 });
        await mouse.up();
        if (key !== undefined) {
            await keyboard.up(key);
        }
        await view.rest();
    };
    const wheel = async (deltaY, key) => {
        if (key !== undefined) {
            await keyboard.down(key);
        }
        await mouse.wheel({ deltaY });
        if (key !== undefined) {
            await keyboard.up(key);
        }
        await view.rest();
    };
    const scrolled = async () => await page.$eval(".tracks", (box) => box.scrollTop);

    await test("the wheel scrolls the threads, and with Shift the time", async () => {
        await show(2 * ms, 4 * ms);
        await mouse.move(x(5 * ms), y);
        await wheel(40);
        assert.ok((await scrolled()) > 0);
        assert.deepEqual(await view.window(), { from: 2 * ms, to: 4 * ms });
        await wheel(-400);
        assert.equal(await scrolled(), 0);
        await wheel(108, "Shift");
        near(await view.window(), 2.2 * ms, 4.2 * ms);
    });
    for (const where of ["ruler", "minimap"]) {
        await test(`the wheel zooms over the ${where}`, async () => {
            await view.press("0");
            await mouse.move(x(7 * ms), await middle(`.${where}`));
            await wheel(-300);
            const { from, to } = await view.window();
            assert.ok(to - from < 7 * ms && from < 7 * ms && to > 7 * ms, `${from} - ${to}`);
            await wheel(2000);
            assert.deepEqual(await view.window(), WHOLE);
        });
    }
    await test("a drag moves the time", async () => {
        await show(2 * ms, 4 * ms);
        await drag(x(5 * ms), y, x(2.5 * ms), y);
        near(await view.window(), 2.5 * ms, 4.5 * ms);
        await drag(x(1 * ms), y, x(9 * ms), y);
        near(await view.window(), 0.9 * ms, 2.9 * ms);
        assert.equal((await state()).call, null, "that was no click");
    });
    await test("a drag on the minimap moves the window, one with Shift draws it", async () => {
        const high = await middle(".minimap");
        await show(2 * ms, 4 * ms);
        await drag(x(3 * ms), high, x(6 * ms), high);
        near(await view.window(), 5 * ms, 7 * ms);
        await mouse.click(x(2 * ms), high);
        await view.rest();
        near(await view.window(), 1 * ms, 3 * ms);
        await drag(x(4 * ms), high, x(5 * ms), high, "Shift");
        near(await view.window(), 4 * ms, 5 * ms);
    });
    await test("a drag on the ruler measures", async () => {
        await view.press("0");
        const high = await middle(".ruler");
        await drag(x(2 * ms), high, x(6 * ms), high);
        near((await state()).range, 2 * ms, 6 * ms);
        assert.match(await view.text(".scope"), /Selected (4\.0|3\.9)/);
        await view.press("f");
        const { from, to } = await view.window();
        assert.ok(from < 2.1 * ms && from > 1.5 * ms && to > 5.9 * ms && to < 6.5 * ms);
        await view.press("Escape");
        assert.equal((await state()).range, null);
    });
    await test("v selects the window, r the time of the call", async () => {
        await show(2 * ms, 4 * ms);
        await view.press("v");
        assert.deepEqual((await state()).range, { from: 2 * ms, to: 4 * ms });
        await view.press("Escape", "0");
        await mouse.click(x(7 * ms), y);
        await view.rest();
        await view.press("r");
        assert.deepEqual((await state()).range, { from: 5 * ms, to: 9 * ms });
        await view.press("Escape", "Escape");
        assert.equal((await state()).call, null);
    });
    await test("arrows, Home and End", async () => {
        await show(4 * ms, 6 * ms);
        await view.press("ArrowRight");
        near(await view.window(), 4.3 * ms, 6.3 * ms);
        await view.press("ArrowLeft", "ArrowLeft");
        near(await view.window(), 3.7 * ms, 5.7 * ms);
        await view.press("End");
        near(await view.window(), 8 * ms, 10 * ms);
        await view.press("Home");
        near(await view.window(), 0, 2 * ms);
        await view.press("ArrowDown");
        assert.ok((await scrolled()) > 0);
        await view.press("ArrowUp", "PageDown");
        assert.ok((await scrolled()) > 0);
        await view.press("PageUp");
        assert.equal(await scrolled(), 0);
    });
    await test("a double click fills the window with a call", async () => {
        await view.press("0");
        await mouse.click(x(7 * ms), y, { count: 2 });
        await view.rest();
        const { from, to } = await view.window();
        assert.ok(
            from > 4.5 * ms && from <= 5 * ms && to >= 9 * ms && to < 9.5 * ms,
            `${from} - ${to}`,
        );
    });
    await test("the nth slowest call of a function", async () => {
        const low = await view.places(0, 2);
        await view.press("0");
        await mouse.click(x(5.55 * ms), low.y);
        await view.rest();
        assert.equal((await state()).call.start, 5.5 * ms);
        await view.press("l");
        assert.equal((await state()).call.start, 1 * ms, "the slowest");
        await page.$eval("input.nth", (input) => {
            input.value = "2";
        });
        await page.focus("input.nth");
        await view.press("Enter");
        assert.equal((await state()).call.start, 5.5 * ms, "the second slowest");
        await page.$eval("input.nth", (input) => {
            input.value = "3";
        });
        await view.press("Enter");
        assert.match(await view.text(".status"), /There is no such call/);
        // The answer's status is 404, of which the browser tells.
        assert.deepEqual(
            view.wrong.splice(0).filter((line) => !/404/.test(line)),
            [],
        );
        await page.evaluate(() => document.activeElement.blur());
    });
    await test("f brings the call's row back into sight", async () => {
        await page.$eval(".tracks", (box) => box.scrollTo(0, box.scrollHeight));
        const row = async () => (await view.places(0, 2)).y;
        const top = await page.$eval(".tracks", (box) => box.getBoundingClientRect().top);
        assert.ok((await row()) < top, "it is out of sight");
        await view.press("f");
        assert.ok((await row()) > top);
        await view.press("0");
    });
    await test("the pointer tells what is under it", async () => {
        await page.$eval(".tracks", (box) => box.scrollTo(0, 0));
        await mouse.move(x(7 * ms), y + 4);
        await view.rest();
        const text = await view.text(".tooltip");
        assert.match(text, /render/);
        assert.match(text, /4\.000 ms/);
        await mouse.move(5, 5);
    });
    await test("h changes what the hues stand for", async () => {
        const before = (await view.picture()).at(x(7 * ms), y);
        const seen = new Set([before]);
        for (let i = 0; i < 4; i++) {
            await view.press("h");
            assert.match(await view.text(".status"), /Hues by (category|module|file|function)/);
            seen.add((await view.picture()).at(x(7 * ms), y));
        }
        assert.ok(seen.size > 1, [...seen].join());
    });
    await test("t goes through the themes, and the address keeps the choice", async () => {
        const theme = async () =>
            await page.evaluate(() => document.documentElement.dataset["theme"]);
        const seen = [await theme()];
        const plain = [(await view.picture()).at(x(4.5 * ms), y)];
        for (let i = 0; i < 3; i++) {
            await view.press("t");
            seen.push(await theme());
            plain.push((await view.picture()).at(x(4.5 * ms), y));
        }
        assert.deepEqual(seen, ["light", "light", "dark", "light"]);
        assert.deepEqual(plain[1], plain[0]);
        assert.notEqual(plain[2], plain[0]);
        await view.press("t", "t");
        await new Promise((go) => setTimeout(go, 600));
        assert.match(page.url(), /theme=dark/);
    });
    await test("the address keeps range, call, search and panel", async () => {
        await mouse.click(x(7 * ms), y);
        await view.rest();
        await view.press("r", "/");
        await keyboard.type("parse");
        await view.press("Enter");
        await page.evaluate(() => document.activeElement.blur());
        await view.press("5");
        await new Promise((go) => setTimeout(go, 600));
        const kept = await state();
        const again = await View.open(browser, page.url());
        const seen = await again.page.evaluate(() => {
            const { app } = globalThis.nanoscope;
            return [app.range, app.call, app.found?.text, app.panel];
        });
        assert.deepEqual(seen[0], kept.range);
        assert.deepEqual(
            [seen[1].start, seen[1].depth, seen[1].thread],
            [kept.call.start, kept.call.depth, kept.call.thread],
        );
        assert.deepEqual(seen.slice(2), ["parse", "histogram"]);
        assert.deepEqual(again.wrong, []);
        await again.close();
    });
    await test("nothing went wrong meanwhile", async () => assert.deepEqual(view.wrong, []));

    await browser.close();
    await server.end();
    done();
}

void run();
