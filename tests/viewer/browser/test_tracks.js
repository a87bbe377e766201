// test_tracks.js - what stands beside the calls of a trace, where it is known: states, charts, counters, marks, what was
// lost and left out, the minimap, and the marks of frames.
"use strict";
const { assert, done, test } = require("./tap");
const { View, describedTrace, launch, makeTrace, serve } = require("./viewer");

const ms = 1e6;
const ACCENT = "rgb(11 92 196)";
const LOSS = "rgb(176 58 20)";
const FRAME = 1e9 / 60;

/** The top and the height of a track on the screen. */
async function track(view, kind, name) {
    return await view.page.evaluate(
        (of, called) => {
            const { timeline } = globalThis.nanoscope;
            const box = document.querySelector(".tracks");
            const lane = timeline.layout.lanes.find(
                (each) => each.kind === of && (called === undefined || each.name === called),
            );
            const top = box.getBoundingClientRect().top - box.scrollTop;
            return { top: top + lane.y, height: lane.height };
        },
        kind,
        name,
    );
}

async function tracksOf(view, kind) {
    return await view.page.evaluate(
        (of) =>
            globalThis.nanoscope.timeline.layout.lanes
                .filter((lane) => lane.kind === of)
                .map((lane) => lane.name),
        kind,
    );
}

async function panel(view, title) {
    await view.panel(title);
    return await view.page.$$eval(".panel:not([hidden]) tbody tr", (rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent.trim()).join("|")),
    );
}

/** The times at which a line goes through all of the tracks, to the width of a pixel. */
async function lines(view) {
    const picture = await view.picture();
    const { x } = await view.places(0, 0);
    const found = [];
    const { from, to } = await view.window();
    const [left, right] = [Math.round(x(from)), Math.min(Math.round(x(to)), picture.width - 1)];
    const bottom = await view.page.$eval(".tracks", (box) => box.getBoundingClientRect().bottom);
    // Below the last track, where nothing else is painted.
    const y = Math.round(bottom) - 4;
    const plain = picture.at(left + 7, y);
    for (let at = left + 1; at < right; at++) {
        if (picture.at(at, y) !== plain) {
            found.push(from + ((at - x(from)) / (x(to) - x(from))) * (to - from));
        }
    }
    return found;
}

/** Pixels of the label in the ruler that tells how long the range is. */
async function chipWidth(view) {
    const picture = await view.picture();
    const box = await view.page.$eval(".ruler", (ruler) => ruler.getBoundingClientRect().toJSON());
    let width = 0;
    for (let at = 200; at < picture.width; at++) {
        width += picture.at(at, box.top + 4) === ACCENT ? 1 : 0;
    }
    return width;
}

function near(found, wanted, slack) {
    assert.equal(found.length, wanted.length, `${found} for ${wanted}`);
    found.forEach((time, i) => assert.ok(Math.abs(time - wanted[i]) <= slack, `${found}`));
}

async function run() {
    const server = await serve(describedTrace("tests/viewer/browser/traces/tracks.txt"));
    const browser = await launch();
    const view = await View.open(browser, server.address);
    const { page } = view;
    const { x } = await view.places(0, 0);
    const picture = await view.picture();
    const at = (time, y) => picture.at(x(time * ms), y);
    const cpu = await track(view, "samples", "CPU");
    const chartMiddle = cpu.top + cpu.height / 2;
    const pixel = (100 * ms) / (x(100 * ms) - x(0));

    await test("threads have their names", async () => {
        const text = await page.$$eval(".tracks [role=row][aria-level='1']", (rows) =>
            rows.map((row) => row.textContent).join("\n"),
        );
        assert.match(text, /main 100/);
        assert.match(text, /worker 101/);
    });
    await test("the band of states has a colour for each", async () => {
        const { top, height } = await track(view, "thread");
        const band = [5, 15, 25, 35, 45, 55].map((time) => at(time, top + height - 5));
        assert.equal(band[5], band[0], "runs again");
        assert.equal(new Set(band.slice(0, 5)).size, 5, band.join());
        assert.equal(at(9.8, top + height - 5), band[0]);
        assert.equal(at(10.2, top + height - 5), band[1]);
    });
    await test("the chart of CPU is full where the thread runs", async () => {
        const filled = [10, 30, 70].map((time) => at(time, chartMiddle));
        assert.equal(filled[0], filled[2]);
        assert.notEqual(filled[0], filled[1]);
        assert.equal(filled[1], "rgb(255 255 255)");
    });
    await test("a counter is as high as its value", async () => {
        const { top, height } = await track(view, "counter", "queue");
        const low = top + height * 0.75;
        const high = top + height * 0.35;
        assert.equal(at(20, low), "rgb(255 255 255)", "not known yet");
        assert.notEqual(at(45, low), "rgb(255 255 255)");
        assert.equal(at(45, high), "rgb(255 255 255)", "half");
        assert.equal(at(80, high), at(45, low), "all of it");
    });
    await test("marks are flags, and rows of a panel", async () => {
        const { top } = await track(view, "thread");
        assert.equal(at(25, top + 5), ACCENT);
        assert.notEqual(at(24.5, top + 5), ACCENT);
        const left = Math.round(x(25 * ms)) + 3;
        assert.ok(picture.colours(left, Math.round(top) + 2, 50, 10) > 5, "its name");
        assert.deepEqual(await panel(view, "Marks"), [
            "frame one||0.025000000 s||main 100",
            "frame two||0.090000000 s|+65.00 ms|main 100",
        ]);
    });
    await test("what was left out has a track, a chip and a panel", async () => {
        const { top, height } = await track(view, "left-out");
        const line = top + height - 3;
        assert.notEqual(at(30, line), at(10, line));
        assert.notEqual(at(85, line), at(95, line));
        assert.match(await view.text("header"), /1 left out/);
        const rows = await panel(view, "Left out");
        assert.match(rows[0], /^leaf\|budget\|0\.020000000 s\|0\.090000000 s\|70 ± 7\|/);
    });
    await test("the minimap shows how deep calls are, and what was lost", async () => {
        const { top } = await page.$eval(".minimap", (box) => ({
            top: box.getBoundingClientRect().top,
        }));
        // 34 pixels are for three calls.
        const [third, all] = [top + 32, top + 12];
        assert.equal(at(30, all), at(90, all), "one call");
        assert.notEqual(at(62, all), at(30, all), "three");
        assert.equal(at(30, third), at(62, third));
        const lost = [58, 59, 60, 61, 62].map((time) => at(time, top + 2));
        assert.ok(lost.includes(LOSS), lost.join());
        assert.notEqual(at(30, top + 2), LOSS);
    });
    await test("the tracks are slanted where events were lost", async () => {
        const rows = await view.places(1, 0);
        const [left, top] = [Math.round(x(60 * ms)), Math.round(rows.y) - 2];
        assert.ok(picture.colours(left, top, 4, 12) > 1, "lines");
        assert.equal(picture.colours(left - 9, top, 4, 12), 1, "none before");
        assert.equal(picture.colours(left + 9, top, 4, 12), 1, "none after");
    });
    await test("m shows more charts, then none", async () => {
        assert.deepEqual(await tracksOf(view, "samples"), ["CPU"]);
        await view.press("m");
        assert.deepEqual(await tracksOf(view, "samples"), ["CPU", "faults", "switches", "memory"]);
        const more = await view.picture();
        const { top, height } = await track(view, "samples", "faults");
        const [busy, quiet] = [10, 30].map((time) => more.at(x(time * ms), top + height / 2));
        assert.notEqual(busy, quiet, "page faults");
        await view.press("m");
        assert.deepEqual(await tracksOf(view, "samples"), []);
        await view.press("m");
    });

    await test("g marks every frame, from the begin of the trace", async () => {
        assert.deepEqual(await lines(view), []);
        await view.press("g");
        near(
            await lines(view),
            [1, 2, 3, 4, 5].map((i) => i * FRAME),
            pixel,
        );
        assert.match(await view.text(".status"), /16\.67 ms, from the trace's begin/);
    });
    await test("... or of the range, whose length is told in frames", async () => {
        await page.evaluate(() => {
            globalThis.nanoscope.app.select({ from: 10e6, to: 60e6 });
            globalThis.nanoscope.app.show({ from: 20e6, to: 50e6 });
        });
        await view.rest();
        near(await lines(view), [10e6 + FRAME, 10e6 + 2 * FRAME], pixel);
        const wide = await chipWidth(view);
        await view.press("g");
        assert.deepEqual(await lines(view), []);
        assert.ok(wide > (await chipWidth(view)) + 40, "3.0 frames");
        await view.press("g");
        assert.match(await view.text(".status"), /16\.67 ms, from the range's begin/);
    });
    await test("the address keeps them", async () => {
        await view.press("Escape", "0");
        await new Promise((go) => setTimeout(go, 600));
        const again = await View.open(browser, page.url());
        assert.equal((await lines(again)).length, 5);
        await again.close();
    });
    await test("g again takes them away", async () => {
        await view.press("g");
        assert.deepEqual(await lines(view), []);
    });
    await test("charts and counters go on where nothing changes in sight", async () => {
        await page.evaluate(() => globalThis.nanoscope.app.show({ from: 80e6, to: 80.001e6 }));
        await view.rest();
        const close = await view.picture();
        for (const [kind, name] of [
            ["samples", "CPU"],
            ["counter", "queue"],
        ]) {
            const { top, height } = await track(view, kind, name);
            const y = Math.round(top + height * 0.6);
            assert.equal(close.at(x(50 * ms), y), picture.at(x(10 * ms), chartMiddle), name);
        }
        await view.press("0");
    });
    await test("nothing went wrong meanwhile", async () => assert.deepEqual(view.wrong, []));
    await view.close();
    await server.end();

    const text = "process 1 p\nthread 1 main\n0 enter f\n20000000000 exit\n20000000000 close\n";
    const long = await serve(makeTrace("long.nst", text));
    const far = await View.open(browser, long.address);
    await test("marks that would be too close say so, and come with the zoom", async () => {
        await far.press("g");
        assert.match(await far.text(".status"), /zoom in to see them/);
        assert.deepEqual(await lines(far), []);
        await far.page.evaluate(() => globalThis.nanoscope.app.show({ from: 5e9, to: 5.1e9 }));
        await far.rest();
        near(
            await lines(far),
            [301, 302, 303, 304, 305].map((i) => i * FRAME),
            pixel,
        );
    });
    await long.end();

    await browser.close();
    done();
}

void run();
