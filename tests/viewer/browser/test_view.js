// test_view.js - the timeline of a trace whose calls are known: what is where, and what keys and pointer do to it.
"use strict";
const { assert, done, test } = require("./tap");
const { View, describedTrace, launch, serve } = require("./viewer");

const WHITE = "rgb(255 255 255)";

async function run() {
    const server = await serve(describedTrace("tests/viewer/browser/traces/known.txt"));
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const { page } = view;

    await test("it opens without a complaint", async () => {
        assert.deepEqual(view.wrong, []);
        assert.equal(await page.title(), "known.nst - nanoscope");
    });
    await test("nothing is asked of anybody else", async () => {
        assert.ok(view.asked.length > 5);
        assert.deepEqual(
            view.asked.filter((url) => !url.startsWith(server.base) && !url.startsWith("data:")),
            [],
        );
    });
    await test("the token is gone from the address, the cookie is not for scripts", async () => {
        assert.ok(!page.url().includes("token"), page.url());
        assert.equal(await page.evaluate(() => document.cookie), "");
    });
    await test("script from elsewhere or made of text does not run", async () => {
        const ran = await page.evaluate(() => {
            const script = document.createElement("script");
            try {
                script.textContent = "globalThis.ran = true";
            } catch {
                script.append("globalThis.ran = true");
            }
            document.head.append(script);
            return globalThis.ran === true;
        });
        assert.equal(ran, false);
        const made = await page.evaluate(() => {
            try {
                document.createElement("p").innerHTML = "<b>x</b>";
                return "made";
            } catch (error) {
                return error.name;
            }
        });
        assert.equal(made, "TypeError");
        view.wrong.length = 0;
    });

    const ms = 1e6;
    await test("calls are painted where they happened", async () => {
        const picture = await view.picture();
        const top = await view.places(0, 0);
        const middle = await view.places(0, 1);
        const low = await view.places(0, 2);
        const at = (place, time) => picture.at(place.x(time * ms), place.y);
        const main = at(top, 0.1);
        const nothing = at(middle, 0.5);
        assert.notEqual(main, nothing);
        for (const time of [2, 4.5, 7, 9.9]) {
            assert.equal(at(top, time), main, `main at ${time} ms`);
        }
        const load = at(middle, 1.5);
        const render = at(middle, 7);
        const parse = at(low, 2);
        for (const colour of [load, render, parse]) {
            assert.notEqual(colour, nothing);
        }
        assert.equal(at(middle, 3.9), load);
        assert.equal(at(middle, 4.5), nothing);
        assert.equal(at(middle, 5.1), render);
        assert.equal(at(middle, 9.5), nothing);
        assert.equal(at(low, 5.55), parse, "the same function has the same colour");
        assert.equal(at(low, 3.5), nothing);
        assert.equal(at(low, 6), nothing);
    });
    await test("another thread has its own rows, and its loss is marked", async () => {
        const picture = await view.picture();
        const rows = await view.places(1, 0);
        const work = picture.at(rows.x(2.5 * ms), rows.y);
        assert.equal(picture.at(rows.x(7 * ms), rows.y), work);
        for (const time of [1, 3.5, 5, 9]) {
            assert.notEqual(picture.at(rows.x(time * ms), rows.y), work, `${time} ms`);
        }
        assert.match(await view.text("header"), /12 events lost/);
    });
    await test("names are written on calls that have room for them", async () => {
        const picture = await view.picture();
        const { x, y } = await view.places(0, 1);
        assert.ok(picture.colours(Math.round(x(5 * ms)) + 2, y, 60, 12) > 8, "render");
        assert.ok(picture.colours(Math.round(x(7 * ms)), y, 60, 12) < 4, "no letters further on");
    });

    await test("w zooms in, s out, d and a move, 0 shows the whole trace", async () => {
        const whole = await view.window();
        assert.deepEqual(whole, { from: 0, to: 10 * ms });
        await view.press("w", "w");
        const near = await view.window();
        assert.ok(near.to - near.from < (whole.to - whole.from) / 2);
        await view.press("d");
        const right = await view.window();
        assert.ok(right.from > near.from);
        await view.press("a");
        assert.ok((await view.window()).from < right.from);
        await view.press("s");
        assert.ok((await view.window()).to - (await view.window()).from > near.to - near.from);
        await view.press("0");
        assert.deepEqual(await view.window(), whole);
    });
    await test("what is seen after zooming is in its place", async () => {
        await view.press("w", "w", "w");
        const picture = await view.picture();
        const middle = await view.places(0, 1);
        const edge = middle.x(5 * ms);
        assert.notEqual(picture.at(edge - 3, middle.y), picture.at(edge + 3, middle.y));
        assert.equal(picture.at(edge + 3, middle.y), picture.at(edge + 60, middle.y));
        await view.press("0");
    });
    await test("the wheel zooms at the pointer", async () => {
        const { x, y } = await view.places(0, 1);
        await page.mouse.move(x(7 * ms), y);
        await page.keyboard.down("Control");
        await page.mouse.wheel({ deltaY: -300 });
        await page.keyboard.up("Control");
        await view.rest();
        const shown = await view.window();
        assert.ok(shown.to - shown.from < 10 * ms, "nearer");
        assert.ok(shown.from < 7 * ms && shown.to > 7 * ms, "around the pointer");
        await view.press("0");
    });
    await test("a click on a call tells all about it", async () => {
        const { x, y } = await view.places(0, 1);
        await page.mouse.click(x(7 * ms), y + 4);
        await view.rest();
        const text = await view.text();
        assert.match(text, /render/);
        assert.match(text, /4\.000 ms|4 ms/, "its duration");
        assert.match(text, /3\.900 ms|3\.9 ms/, "its own part");
    });
    await test("a search shows all matches and dims the others", async () => {
        await page.keyboard.press("/");
        await page.keyboard.type("parse");
        await page.keyboard.press("Enter");
        await view.rest();
        await page.mouse.move(5, 5);
        const picture = await view.picture();
        const [top, low] = [await view.places(0, 0), await view.places(0, 2)];
        assert.equal(picture.at(top.x(6 * ms), top.y), "rgb(225 228 233)");
        assert.notEqual(picture.at(low.x(2 * ms), low.y), "rgb(225 228 233)");
        assert.notEqual(picture.at(low.x(2 * ms), low.y), WHITE);
        await view.press("Escape", "Escape", "Escape", "Escape");
    });
    await test("the address of a view shows the same view again", async () => {
        await view.press("0", "w", "w", "d");
        const shown = await view.window();
        await new Promise((go) => setTimeout(go, 600));
        const again = await View.open(browser, page.url());
        assert.deepEqual(await again.window(), shown);
        assert.deepEqual(again.wrong, []);
        await again.close();
        await view.press("0");
    });
    await test("nothing went wrong meanwhile", async () => {
        assert.deepEqual(view.wrong, []);
    });

    await browser.close();
    await test("the server ends", async () => assert.equal(await server.end(), 0));
    done();
}

void run();
