// screenshots.js - the pictures of docs/images, from a trace: node screenshots.js TRACE AFTER FOLDER; run by
// tools/screenshots.
"use strict";
const path = require("node:path");
const { View, launch, serve } = require("./viewer");

const [, , trace, after, folder] = process.argv;

async function keys(view, ...all) {
    for (const key of all) {
        await view.press(key);
    }
}

/** Finds a function's slowest call, shows it, and nothing of the search. */
async function find(view, name) {
    await view.page.keyboard.press("/");
    await view.page.keyboard.type(name);
    await view.press("Enter");
    await view.page.evaluate(() => document.activeElement.blur());
    await keys(view, "l", "f");
}

async function run() {
    const server = await serve(trace);
    const browser = await launch();
    const picture = async (view, name) => {
        // Messages go after a while.
        await view.page.waitForSelector(".status[hidden]", { timeout: 10000 });
        await view.picture(path.join(folder, `${name}.png`));
    };

    const light = await View.open(browser, server.address);
    await find(light, "auxsort");
    await keys(light, "Escape", "s");
    await picture(light, "timeline");
    await keys(light, "r", "1");
    await picture(light, "range");
    await light.close();

    const dark = await View.open(browser, server.address, { theme: "dark" });
    await keys(dark, "2");
    // What is interesting is further down than where a program starts.
    await dark.page.mouse.move(640, 700);
    await dark.page.mouse.wheel({ deltaY: 230 });
    await dark.rest();
    await dark.page.mouse.move(640, 10);
    await picture(dark, "flame");

    await server.end();

    const pair = await serve(trace, after);
    const both = await View.open(browser, pair.address);
    await both.page.evaluate(() => globalThis.nanoscope.app.setCompare({ view: "flame" }));
    await both.page.evaluate(() => globalThis.nanoscope.app.emit("selection"));
    await both.rest();
    await picture(both, "compare");

    await browser.close();
    await pair.end();
}

void run();
