// bindings.ts - which key does what; the page of keys shows this table.
import type { State } from "../data/state";
import type { Commands } from "./commands";
import type { Key } from "./keys";
import type { Panel } from "../panels/host";
import type { Neighbour } from "../timeline/hit_map";

const ZOOM_STEP = 1.6;
const PAN_STEP = 0.15;
const SCROLL_STEP = 72;

export function bindings(
    app: State,
    commands: Commands,
    scroller: HTMLElement,
    panels: readonly Panel[],
    page: { nextTheme(): void; showHelp(): void; search(): void },
): Key[] {
    const pan = (share: number) => (): void => app.pan(share, true);
    const zoom = (factor: number) => (): void => app.zoom(factor, 0.5, true);
    const walk = (to: Neighbour | "caller") => (): void => void commands.walk(to);
    const panelKeys: Key[] = panels.slice(0, 9).map((panel, i) => ({
        keys: [String(i + 1)],
        group: "Page",
        what: panel.title,
        run: () => app.setPanel(panel.id),
    }));
    return [
        {
            group: "Move",
            keys: ["w", "+", "="],
            label: "w +",
            what: "zoom in",
            run: zoom(1 / ZOOM_STEP),
        },
        { group: "Move", keys: ["s", "-"], what: "zoom out", run: zoom(ZOOM_STEP) },
        { group: "Move", keys: ["a", "ArrowLeft"], what: "earlier", run: pan(-PAN_STEP) },
        { group: "Move", keys: ["d", "ArrowRight"], what: "later", run: pan(PAN_STEP) },
        {
            group: "Move",
            keys: ["ArrowUp"],
            what: "threads above",
            run: () => commands.scroll(-SCROLL_STEP),
        },
        {
            group: "Move",
            keys: ["ArrowDown"],
            what: "threads below",
            run: () => commands.scroll(SCROLL_STEP),
        },
        {
            group: "Move",
            keys: ["PageUp"],
            what: "a page up",
            run: () => commands.scroll(-scroller.clientHeight),
        },
        {
            group: "Move",
            keys: ["PageDown"],
            what: "a page down",
            run: () => commands.scroll(scroller.clientHeight),
        },
        {
            group: "Move",
            keys: ["Home"],
            what: "begin of the trace",
            run: () => commands.toEnd(app.whole.from),
        },
        {
            group: "Move",
            keys: ["End"],
            what: "end of the trace",
            run: () => commands.toEnd(app.whole.to),
        },
        {
            group: "Move",
            keys: ["0"],
            what: "the whole trace",
            run: () => app.show(app.whole, true),
        },
        {
            group: "Move",
            keys: ["f"],
            what: "fit the range, or the call",
            run: () => commands.fit(),
        },
        {
            group: "Calls",
            keys: ["Enter"],
            what: "look at the first call in sight",
            run: () => commands.firstCall(),
        },
        {
            group: "Calls",
            keys: ["Shift+ArrowUp"],
            label: "Shift ↑",
            what: "its caller",
            run: walk("caller"),
        },
        {
            group: "Calls",
            keys: ["Shift+ArrowDown"],
            label: "Shift ↓",
            what: "its longest callee",
            run: walk("callee"),
        },
        {
            group: "Calls",
            keys: ["Shift+ArrowLeft"],
            label: "Shift ←",
            what: "the call before it",
            run: walk("left"),
        },
        {
            group: "Calls",
            keys: ["Shift+ArrowRight"],
            label: "Shift →",
            what: "the call after it",
            run: walk("right"),
        },
        {
            group: "Calls",
            keys: ["n"],
            what: "next call of the function",
            run: () => commands.jump("next"),
        },
        {
            group: "Calls",
            keys: ["p", "N"],
            label: "p",
            what: "previous call of the function",
            run: () => commands.jump("previous"),
        },
        {
            group: "Calls",
            keys: ["l"],
            what: "its slowest call",
            run: () => commands.jump("longest"),
        },
        {
            group: "Range",
            keys: ["v"],
            what: "select the window",
            run: () => app.select({ ...app.goal }),
        },
        {
            group: "Range",
            keys: ["r"],
            what: "select the call's time",
            run: () => commands.selectCall(),
        },
        {
            group: "Range",
            keys: ["g"],
            what: "marks every 16.67 ms, from the range's begin",
            run: () => commands.frames(),
        },
        {
            group: "Range",
            keys: ["Escape"],
            what: "clear range, search, call",
            run: () => commands.escape(),
        },
        { group: "Page", keys: ["/"], what: "search", run: () => page.search() },
        {
            group: "Page",
            keys: ["c"],
            what: "fold or unfold the thread",
            run: () => commands.fold(),
        },
        { group: "Page", keys: ["C"], what: "fold or unfold all", run: () => commands.foldAll() },
        {
            group: "Page",
            keys: ["m"],
            what: "charts of the thread: CPU, all, none",
            run: () => commands.charts(),
        },
        {
            group: "Page",
            keys: ["h"],
            what: "hues by category, module, file, function",
            run: () => commands.nextColours(),
        },
        { group: "Page", keys: ["t"], what: "light or dark", run: () => page.nextTheme() },
        { group: "Page", keys: ["?"], what: "this page", run: () => page.showHelp() },
        ...panelKeys,
    ];
}
