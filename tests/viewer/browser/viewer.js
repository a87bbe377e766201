// viewer.js - a browser, and `nanoscope open` for it to look at; used by the tests and by tools/screenshots.
"use strict";
const { spawn, execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const puppeteer = require("puppeteer-core");
const { Picture } = require("./png");

const root = path.resolve(__dirname, "../../..");
const build = process.env.BUILD ?? path.join(root, "build");
const nanoscope = process.env.NANOSCOPE ?? path.join(build, "bin/nanoscope");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "viewer-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

/** A trace of the calls that a text describes (tests/golden/make_trace.c), in a file of that name. */
function makeTrace(name, text) {
    const file = path.join(folder, name);
    execFileSync(path.join(build, "tests/golden/make_trace"), [file], { input: text });
    return file;
}

/** One of the descriptions that the repository has. */
function describedTrace(file) {
    const name = path.basename(file, ".txt");
    return makeTrace(`${name}.nst`, fs.readFileSync(path.join(root, file)));
}

/** Serves traces, and options before them; ends by itself when nobody has asked for a minute. */
async function serve(...traces) {
    const { DISPLAY, WAYLAND_DISPLAY, ...env } = process.env;
    const server = spawn(nanoscope, ["open", "--idle", "60", ...traces], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => server.on("exit", resolve));
    const address = await new Promise((resolve, reject) => {
        let said = "";
        server.stdout.on("data", (data) => {
            said += data;
            const found = /^http:\S+$/m.exec(said);
            if (found !== null) {
                resolve(found[0]);
            }
        });
        void ended.then((status) => reject(new Error(`nanoscope open has ended: ${status}`)));
    });
    return {
        address,
        pid: server.pid,
        base: address.slice(0, address.indexOf("#")),
        async end() {
            server.kill("SIGINT");
            return await ended;
        },
    };
}

async function launch() {
    return await puppeteer.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        headless: true,
        userDataDir: path.join(folder, "profile"),
        args: [
            // Who is root in a container has no other choice; the pages are our own.
            ...(process.getuid() === 0 ? ["--no-sandbox"] : []),
            "--disable-gpu",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            // Whatever would leave the machine fails, and so is seen.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*",
        ],
    });
}

/** A page that shows a trace, with notes of what it asked for and what went wrong. */
class View {
    constructor(page) {
        this.page = page;
        this.asked = [];
        this.wrong = [];
        page.on("request", (request) => this.asked.push(request.url()));
        page.on("pageerror", (error) => this.wrong.push(`script: ${error.message}`));
        page.on("console", (message) => {
            if (message.type() === "error" || message.type() === "warn") {
                this.wrong.push(`console: ${message.text()} ${message.location().url ?? ""}`);
            }
        });
        page.on("dialog", (dialog) => {
            this.wrong.push(`dialog: ${dialog.message()}`);
            void dialog.dismiss();
        });
    }

    /** @theme: of the system, "light" or "dark". */
    static async open(browser, address, { width = 1280, height = 800, theme = "light" } = {}) {
        const page = await browser.newPage();
        await page.setViewport({ width, height });
        await page.emulateMediaFeatures([
            { name: "prefers-color-scheme", value: theme },
            { name: "prefers-reduced-motion", value: "reduce" },
        ]);
        const view = new View(page);
        await page.goto(address);
        await page.waitForSelector(".page", { timeout: 15000 });
        await view.rest();
        return view;
    }

    /** Waits until nothing is asked any more, and what came is painted. */
    async rest() {
        await this.page.waitForNetworkIdle({ idleTime: 250, timeout: 20000 });
        await this.page.evaluate(
            () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))),
        );
    }

    async press(...keys) {
        for (const key of keys) {
            await this.page.keyboard.press(key);
        }
        await this.rest();
    }

    /** Opens the panel with this title. */
    async panel(title) {
        await this.page.evaluate((name) => {
            [...document.querySelectorAll('[role="tab"]')]
                .find((tab) => tab.textContent === name)
                .click();
        }, title);
        await this.rest();
    }

    async text(selector = "body") {
        return await this.page.$eval(selector, (element) => element.innerText);
    }

    /** @file: also kept there. */
    async picture(file) {
        const png = Buffer.from(await this.page.screenshot());
        if (file !== undefined) {
            fs.writeFileSync(file, png);
        }
        return new Picture(png);
    }

    /** The part of the time that is shown. */
    async window() {
        return await this.page.evaluate(() => ({ ...globalThis.nanoscope.app.view }));
    }

    /** Where the row of a thread's calls at a depth is on the screen, and where times are. */
    async places(thread, depth) {
        const seen = await this.page.evaluate((of) => {
            const { timeline, app } = globalThis.nanoscope;
            const lane = timeline.layout.lanes.find(
                (each) => each.kind === "calls" && each.thread === of,
            );
            const box = document.querySelector(".tracks").getBoundingClientRect();
            const scrolled = document.querySelector(".tracks").scrollTop;
            return {
                top: box.top + lane.y - scrolled,
                left: box.left + timeline.gutter,
                right: box.left + timeline.pen.width,
                window: { ...app.view },
            };
        }, thread);
        const { from, to } = seen.window;
        return {
            y: seen.top + 18 * depth + 3, // above the name that is written in it
            x: (time) => seen.left + ((time - from) / (to - from)) * (seen.right - seen.left),
        };
    }

    async close() {
        await this.page.close();
    }
}

/** What axe-core finds wrong, a line each. The page's own policy lets no script in: the browser puts this one beside it. */
async function violations({ page }) {
    if (!(await page.evaluate(() => "axe" in globalThis))) {
        await page.evaluate(fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    }
    return await page.evaluate(async () => {
        const found = await globalThis.axe.run(document, { resultTypes: ["violations"] });
        return found.violations.map(
            ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(" ")}`,
        );
    });
}

module.exports = {
    View,
    build,
    describedTrace,
    folder,
    launch,
    makeTrace,
    nanoscope,
    root,
    serve,
    violations,
};
