// palette.ts - the colours of calls, states and charts in both themes. Pure. Hues are spread so that they stay apart
// for people who see fewer of them; functions of one group differ in lightness as well, which everybody sees.

export type ThemeName = "light" | "dark";
export type Rgb = readonly [number, number, number];

/** Hue (degrees in OKLCH) of the groups, the most common ones first. */
const HUES = [250, 60, 170, 350, 100, 300, 35, 215, 140, 325];
export const HUE_COUNT = HUES.length;

interface Tone {
    lightness: number;
    spread: number;
    chroma: number;
    text: Rgb;
}

const TONES: Record<ThemeName, Tone> = {
    light: { lightness: 0.77, spread: 0.05, chroma: 0.1, text: [20, 22, 28] },
    dark: { lightness: 0.505, spread: 0.03, chroma: 0.1, text: [248, 249, 252] },
};

export interface Surface {
    background: Rgb;
    lane: Rgb;
    /** Spans that a search did not find. */
    dimmed: Rgb;
    dimmedText: Rgb;
    text: Rgb;
    quiet: Rgb;
    line: Rgb;
    accent: Rgb;
    loss: Rgb;
}

export const SURFACES: Record<ThemeName, Surface> = {
    light: {
        background: [255, 255, 255],
        lane: [246, 247, 249],
        dimmed: [225, 228, 233],
        dimmedText: [92, 98, 110],
        text: [27, 31, 40],
        quiet: [91, 98, 112],
        line: [222, 226, 232],
        accent: [11, 92, 196],
        loss: [176, 58, 20],
    },
    dark: {
        background: [20, 22, 27],
        lane: [27, 30, 36],
        dimmed: [48, 52, 60],
        dimmedText: [165, 171, 182],
        text: [232, 234, 240],
        quiet: [160, 167, 180],
        line: [50, 55, 64],
        accent: [122, 178, 255],
        loss: [255, 140, 95],
    },
};

function toByte(linear: number): number {
    const c = Math.min(Math.max(linear, 0), 1);
    const value = c <= 0.0031308 ? 12.92 * c : 1.055 * Math.pow(c, 1 / 2.4) - 0.055;
    return Math.round(value * 255);
}

/** OKLCH to sRGB; what the screen cannot show is cut off. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = Math.pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const m = Math.pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const s = Math.pow(lightness - 0.0894841775 * a - 1.291485548 * b, 3);
    return [
        toByte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        toByte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        toByte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ];
}

function luminance([r, g, b]: Rgb): number {
    const linear = (byte: number): number => {
        const c = byte / 255;
        return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** WCAG's ratio, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
    return (high + 0.05) / (low + 0.05);
}

export function css([r, g, b]: Rgb, alpha = 1): string {
    return alpha === 1 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${alpha})`;
}

/** As a pixel of ImageData seen as little-endian u32. */
export function pixel([r, g, b]: Rgb): number {
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** A stable number for a text (FNV-1a). */
export function hash(text: string): number {
    let h = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) {
        h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    }
    h ^= h >>> 15;
    return Math.imul(h, 0x2c1b3c6d) >>> 0;
}

/** Shades that functions of one group are spread over. */
const SHADES = 5;

/** The fill of a function's calls. @group: number of its module or category; @name decides the shade. */
export function fill(theme: ThemeName, group: number, name: string): Rgb {
    const tone = TONES[theme];
    const h = hash(name);
    const shade = (h % SHADES) / (SHADES - 1) - 0.5;
    const turn = (((h >>> 8) % 9) - 4) * 7;
    const round = Math.floor(group / HUES.length) * 17;
    return oklch(
        tone.lightness + shade * 2 * tone.spread,
        tone.chroma,
        HUES[group % HUES.length]! + turn + round,
    );
}

/** A fill for calls whose function has no name (yet). */
export function plainFill(theme: ThemeName): Rgb {
    const tone = TONES[theme];
    return oklch(tone.lightness, 0.012, 260);
}

export function fillText(theme: ThemeName): Rgb {
    return TONES[theme].text;
}

/** Orange for what got slower, blue for what got faster: told apart by everybody. */
const CHANGE_TONES: Record<ThemeName, { same: Tone3; slower: Tone3; faster: Tone3 }> = {
    light: { same: [0.9, 0.004, 260], slower: [0.7, 0.165, 52], faster: [0.68, 0.14, 248] },
    dark: { same: [0.41, 0.008, 260], slower: [0.54, 0.13, 48], faster: [0.51, 0.14, 256] },
};

/** A change of a factor of two, and more, has the full colour. */
const FULL_CHANGE = 1;

type Tone3 = readonly [number, number, number];

/** The fill of what changed. @ratio: after divided by before, 0 to Infinity; 1: the same. */
export function changeFill(theme: ThemeName, ratio: number): Rgb {
    const tones = CHANGE_TONES[theme];
    const size = Math.log2(ratio) / FULL_CHANGE;
    const strength = Number.isNaN(size) ? 0 : Math.min(Math.abs(size), 1);
    const end = size > 0 ? tones.slower : tones.faster;
    const mix = (a: number, b: number): number => a + (b - a) * strength;
    return oklch(mix(tones.same[0], end[0]), mix(tones.same[1], end[1]), end[2]);
}

/** States of format.md 9, and those of Android's runtime folded onto them. */
export const STATE_NAMES: Readonly<Record<number, string>> = {
    0: "unknown",
    1: "running",
    2: "runnable (waits for a processor)",
    3: "sleeping",
    4: "blocked on input or output",
    5: "blocked on a lock",
    6: "stopped",
    7: "dead",
    66: "Terminated",
    67: "Runnable",
    68: "TimedWaiting",
    69: "Sleeping",
    70: "Blocked",
    71: "Waiting",
    72: "WaitingForGcToComplete",
    73: "WaitingForCheckPointsToRun",
    74: "WaitingPerformingGc",
    75: "WaitingForDebuggerSend",
    76: "WaitingForDebuggerToAttach",
    77: "WaitingInMainDebuggerLoop",
    78: "WaitingForDebuggerSuspension",
    79: "WaitingForJniOnLoad",
    80: "WaitingForSignalCatcherOutput",
    81: "WaitingInMainSignalCatcherLoop",
    82: "WaitingForDeoptimization",
    83: "WaitingForMethodTracingStart",
    84: "WaitingForVisitObjects",
    85: "WaitingForGetObjectsAllocated",
    86: "WaitingWeakGcRootRead",
    87: "WaitingForGcThreadFlip",
    88: "Starting",
    89: "Native",
    90: "Suspended",
};

export function stateName(state: number): string {
    return STATE_NAMES[state] ?? `state ${state}`;
}

type StateClass = "none" | "running" | "runnable" | "sleeping" | "io" | "lock" | "stopped";

function stateClass(state: number): StateClass {
    switch (state) {
        case 1:
        case 67:
        case 88:
        case 89:
            return "running";
        case 2:
            return "runnable";
        case 3:
        case 68:
        case 69:
        case 71:
            return "sleeping";
        case 4:
            return "io";
        case 5:
        case 70:
            return "lock";
        case 0:
        case 7:
        case 66:
            return "none";
        default:
            return "stopped";
    }
}

const STATE_TONES: Record<StateClass, readonly [number, number, number] | null> = {
    none: null,
    running: [0.68, 0.13, 155],
    runnable: [0.76, 0.14, 80],
    sleeping: [0.72, 0.02, 250],
    io: [0.6, 0.16, 35],
    lock: [0.58, 0.16, 320],
    stopped: [0.62, 0.1, 250],
};

/** null: nothing is painted. */
export function stateColour(state: number, theme: ThemeName): Rgb | null {
    const tone = STATE_TONES[stateClass(state)];
    return tone === null ? null : oklch(tone[0] - (theme === "dark" ? 0.1 : 0), tone[1], tone[2]);
}
