import assert from "node:assert/strict";
import { test } from "node:test";
import * as palette from "../../../viewer/src/base/palette";

const THEMES = ["light", "dark"] as const;

test("names can be read on every fill", () => {
    for (const theme of THEMES) {
        const text = palette.fillText(theme);
        for (let group = 0; group < 40; group++) {
            for (let i = 0; i < 60; i++) {
                const ratio = palette.contrast(text, palette.fill(theme, group, `name${i}`));
                assert.ok(ratio >= 4.5, `${theme} ${group} ${i}: ${ratio}`);
            }
        }
        assert.ok(palette.contrast(text, palette.plainFill(theme)) >= 4.5);
    }
});

test("fills stand out from the background, texts and lines too", () => {
    for (const theme of THEMES) {
        const surface = palette.SURFACES[theme];
        const least = theme === "dark" ? 2.5 : 1.6;
        for (let group = 0; group < 10; group++) {
            for (let i = 0; i < 20; i++) {
                const ratio = palette.contrast(
                    surface.background,
                    palette.fill(theme, group, `f${i}`),
                );
                assert.ok(ratio >= least, `${theme} ${group} ${i}: ${ratio}`);
            }
        }
        for (const ground of [surface.background, surface.lane]) {
            assert.ok(palette.contrast(surface.text, ground) >= 7);
            assert.ok(palette.contrast(surface.quiet, ground) >= 4.5);
            assert.ok(palette.contrast(surface.loss, ground) >= 3);
            assert.ok(palette.contrast(surface.accent, ground) >= 4.5);
        }
        assert.ok(palette.contrast(surface.dimmedText, surface.dimmed) >= 4.5);
    }
});

test("a function has the same colour wherever it is seen", () => {
    assert.deepEqual(palette.fill("dark", 2, "main"), palette.fill("dark", 2, "main"));
    const colours = new Set(
        Array.from({ length: 50 }, (_, i) => palette.fill("light", 0, `function ${i}`).join()),
    );
    assert.ok(colours.size > 20, `${colours.size} shades`);
});

test("states of format.md have names and those that wait have colours of their own", () => {
    for (const state of [0, 1, 2, 3, 4, 5, 6, 7, 66, 90]) {
        assert.notEqual(palette.stateName(state), `state ${state}`);
    }
    assert.equal(palette.stateName(1234), "state 1234");
    for (const theme of THEMES) {
        const seen = [1, 2, 3, 4, 5].map((state) => String(palette.stateColour(state, theme)));
        assert.equal(new Set(seen).size, 5);
        assert.equal(palette.stateColour(7, theme), null);
    }
});

test("changes can be told apart, and names read on them", () => {
    for (const theme of THEMES) {
        const text = palette.fillText(theme);
        const fill = (ratio: number): palette.Rgb => palette.changeFill(theme, ratio);
        for (const ratio of [0, 0.3, 0.5, 0.8, 1, 1.2, 1.6, 2, 50, Infinity, NaN]) {
            assert.ok(palette.contrast(text, fill(ratio)) >= 4.5, `${theme} ${ratio}`);
        }
        // Slower is red and no blue, faster the other way round: the axis that everybody sees.
        const [slower, same, faster] = [fill(2), fill(1), fill(0.5)];
        assert.ok(slower[0] - slower[2] > 90 && faster[2] - faster[0] > 90, theme);
        assert.ok(Math.abs(same[0] - same[2]) < 12, theme);
        assert.deepEqual(fill(Infinity), slower);
        assert.deepEqual(fill(0), faster);
        assert.deepEqual(fill(NaN), same);
    }
});
