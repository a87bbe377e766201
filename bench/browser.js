// browser.js - how the viewer does with a trace in a real browser: how soon it is there, how evenly it moves, what memory
// that takes. Called by bench/view.py, with the packages of tests/viewer.
//
// usage: node bench/browser.js [--frames] TRACE            --frames: moves about in it, too
//        node bench/browser.js --page PAGE                 the one-file page of a trace, from the disk
//        node bench/browser.js --speedscope PAGE FILE      how soon speedscope shows a file of calls
// Prints name=value pairs in one line.
"use strict";
const fs = require("node:fs");
const { pathToFileURL } = require("node:url");
const { launch, serve } = require("../tests/viewer/browser/viewer");

const SIZE = { width: 1600, height: 900 };
const FRAMES = 360;
const SPEEDSCOPE_MS = 120_000;

/** MiB of a process: its share of what it maps, and what nobody else maps. */
function memory(pid) {
    const text = fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const of = (name) => Number(new RegExp(`^${name}: +(\\d+)`, "m").exec(text)[1]) / 1024;
    return { share: of("Pss"), own: of("Private_Clean") + of("Private_Dirty") };
}

/** MiB of the process that draws the page: spare ones are smaller. */
async function rendererMemory(browser) {
    const session = await browser.target().createCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter(({ type }) => type === "renderer");
    return Math.max(...renderers.map(({ id }) => memory(id).share));
}

function summary(times) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return { p50: at(0.5), p95: at(0.95) };
}

/** Times between frames of a page that does next to nothing: what machine and browser leave. */
async function emptyFrames(browser) {
    const page = await browser.newPage();
    await page.setViewport(SIZE);
    await page.setContent("<canvas width=1600 height=900></canvas>");
    const times = await page.evaluate(async (count) => {
        const context = document.querySelector("canvas").getContext("2d");
        const times = [];
        let last = await new Promise(requestAnimationFrame);
        for (let i = 0; i < count; i++) {
            context.fillRect(i, 0, 1, 1);
            const now = await new Promise(requestAnimationFrame);
            times.push(now - last);
            last = now;
        }
        return times;
    }, FRAMES);
    await page.close();
    return summary(times);
}

/** Each frame shows another window: in to a millionth of the trace and out again, then sideways at five zooms. */
async function movingFrames(page) {
    const { times, own } = await page.evaluate(async (count) => {
        const { app, timeline } = globalThis.nanoscope;
        const { from: begin, to: end } = app.whole;
        const times = [];
        timeline.frameTimes.length = 0;
        let last = await new Promise(requestAnimationFrame);
        const show = async (at, share) => {
            const from = begin + (end - begin) * (at - share / 2);
            app.show({ from, to: from + (end - begin) * share });
            const now = await new Promise(requestAnimationFrame);
            times.push(now - last);
            last = now;
        };
        for (let i = 0; i < count; i++) {
            await show(0.3817, Math.pow(1e-6, 1 - Math.abs((2 * i) / count - 1)));
        }
        for (const share of [0.3, 0.03, 1e-3, 1e-4, 1e-6]) {
            for (let i = 0; i < count / 5; i++) {
                await show(0.4 + i * share * 0.02, share);
            }
        }
        return { times, own: [...timeline.frameTimes] };
    }, FRAMES);
    return { frames: summary(times), own: summary(own) };
}

/** Milliseconds from asking for the page to the frame after the one that painted all calls in sight. */
async function painted(page) {
    return await page.evaluate(async () => {
        for (;;) {
            const now = await new Promise(requestAnimationFrame);
            const { timeline } = globalThis.nanoscope ?? {};
            if (timeline?.tiles.cache.size > 0 && timeline.tiles.flights.size === 0) {
                return now;
            }
        }
    });
}

/** The panels that the index answers, and one that reads events: of a hundredth of the trace. */
async function openPanels(page) {
    for (const panel of ["top", "shares", "flame"]) {
        await page.evaluate((name) => {
            const { app } = globalThis.nanoscope;
            const { from, to } = app.whole;
            app.select(name === "flame" ? { from, to: from + (to - from) / 100 } : null);
            app.setPanel(name);
        }, panel);
        await page.waitForNetworkIdle({ idleTime: 200, timeout: 20000 });
    }
}

/** What the page's workers have answered when nobody waits for them any more. */
async function answered(page) {
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null, {
        timeout: SPEEDSCOPE_MS,
    });
}

/** A page that holds its trace: as soon as it is shown, while it is moved about in, and its analyses. */
async function measurePage(file) {
    const browser = await launch();
    const empty = await emptyFrames(browser);
    const page = await browser.newPage();
    await page.setViewport(SIZE);
    await page.goto(pathToFileURL(file).href);
    const out = { open_s: (await painted(page)) / 1e3 };
    await answered(page);
    const { frames, own } = await movingFrames(page);
    out.frame_p50_ms = frames.p50;
    out.frame_p95_ms = frames.p95;
    out.paint_p95_ms = own.p95;
    out.empty_p95_ms = empty.p95;
    out.report_s = await page.evaluate(async () => {
        const { app } = globalThis.nanoscope;
        const { from, to } = app.whole;
        const third = Math.floor((to - from) / 3);
        const begun = performance.now();
        await app.ask("report", { from: from + third, to: to - third });
        return (performance.now() - begun) / 1e3;
    });
    out.browser_MiB = await rendererMemory(browser);
    await browser.close();
    return out;
}

async function measure(trace, withFrames) {
    const browser = await launch();
    const empty = withFrames ? await emptyFrames(browser) : null;
    const page = await browser.newPage();
    await page.setViewport(SIZE);
    const begun = performance.now();
    const server = await serve(trace);
    const served = performance.now() - begun;
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, memory(server.pid).own)), 50);
    await page.goto(server.address);
    const shown = await painted(page);
    const out = { server_s: served / 1e3, page_s: shown / 1e3, open_s: (served + shown) / 1e3 };
    if (withFrames) {
        const { frames, own } = await movingFrames(page);
        out.frame_p50_ms = frames.p50;
        out.frame_p95_ms = frames.p95;
        out.paint_p95_ms = own.p95;
        out.empty_p95_ms = empty.p95;
    }
    await openPanels(page);
    out.browser_MiB = await rendererMemory(browser);
    out.server_MiB = most;
    clearInterval(watch);
    await browser.close();
    await server.end();
    return out;
}

/** From handing the file over to the frame after the one in which its calls can be looked at. */
async function measureSpeedscope(where, file) {
    const browser = await launch();
    const page = await browser.newPage();
    await page.setViewport(SIZE);
    await page.goto(`file://${where}`);
    const chosen = page.waitForFileChooser();
    await page.evaluate(() => document.querySelector("label[for=file]").click());
    const begun = performance.now();
    await (await chosen).accept([file]);
    await page.waitForFunction(() => document.body.innerText.includes("Left Heavy"), {
        timeout: SPEEDSCOPE_MS,
        polling: "raf",
    });
    const out = { open_s: (performance.now() - begun) / 1e3 };
    out.browser_MiB = await rendererMemory(browser);
    await browser.close();
    return out;
}

async function main() {
    const [first, ...rest] = process.argv.slice(2);
    const out =
        first === "--speedscope"
            ? await measureSpeedscope(...rest)
            : first === "--page"
              ? await measurePage(rest[0])
              : first === "--frames"
                ? await measure(rest[0], true)
                : await measure(first, false);
    const pairs = Object.entries(out).map(([name, value]) => `${name}=${value.toFixed(4)}`);
    console.log(pairs.join(" "));
}

main().catch((error) => {
    console.error(`bench/browser.js: ${error.message}`);
    process.exit(1);
});
