// input.ts - mouse, pen and wheel on the tracks, the ruler and the minimap.
import type { State } from "../data/state";
import type { Range } from "../engine/protocol";
import { Timeline, type Spot } from "./timeline";
import * as view from "../data/view";

/** A press that moves less than this is a click. */
const CLICK_PIXELS = 4;
const WHEEL_ZOOM = 0.0016;

export interface Surfaces {
    tracks: HTMLElement;
    ruler: HTMLElement;
    minimap: HTMLElement;
    scroller: HTMLElement;
}

export interface Handlers {
    click(spot: Spot, event: PointerEvent): void;
    doubleClick(spot: Spot): void;
    hover(spot: Spot | null, x: number, y: number): void;
}

/** Calls @move with each position until the button is released, then @up with whether it was a click. */
function drag(
    element: HTMLElement,
    event: PointerEvent,
    move: (event: PointerEvent) => void,
    up: (wasClick: boolean, event: PointerEvent) => void,
): void {
    const { clientX, clientY, pointerId } = event;
    let moved = false;
    element.setPointerCapture(pointerId);
    const onMove = (next: PointerEvent): void => {
        moved ||= Math.hypot(next.clientX - clientX, next.clientY - clientY) >= CLICK_PIXELS;
        if (moved) {
            move(next);
        }
    };
    const onUp = (last: PointerEvent): void => {
        element.removeEventListener("pointermove", onMove);
        element.removeEventListener("pointerup", onUp);
        element.removeEventListener("pointercancel", onUp);
        up(!moved, last);
    };
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onUp);
}

export function listen(
    app: State,
    timeline: Timeline,
    surfaces: Surfaces,
    handlers: Handlers,
): void {
    const { tracks, ruler, minimap, scroller } = surfaces;
    /** x as a share of the time axis. */
    const place = (event: MouseEvent): number => {
        const box = tracks.getBoundingClientRect();
        return (event.clientX - box.left - timeline.gutter) / timeline.width;
    };
    const timeAt = (event: MouseEvent): number => view.xToTime(app.view, 1, place(event));
    const spotAt = (event: MouseEvent): Spot | null => {
        const box = tracks.getBoundingClientRect();
        return timeline.spot(event.clientX - box.left, event.clientY - box.top);
    };

    const measure = (element: HTMLElement, event: PointerEvent): void => {
        const start = timeAt(event);
        const before = app.range;
        drag(
            element,
            event,
            (next) => {
                const range = view.ordered(start, timeAt(next));
                app.select(cut(range, app.whole));
            },
            (wasClick) => {
                if (wasClick && before !== null) {
                    app.select(null);
                }
            },
        );
    };

    tracks.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) {
            return;
        }
        handlers.hover(null, 0, 0);
        const begun = app.goal;
        const top = scroller.scrollTop;
        if (event.shiftKey && place(event) >= 0) {
            event.preventDefault();
            measure(tracks, event);
            return;
        }
        const isGutter = place(event) < 0;
        drag(
            tracks,
            event,
            (next) => {
                tracks.classList.add("dragged");
                if (!isGutter) {
                    const share = (event.clientX - next.clientX) / timeline.width;
                    app.show(view.pan(begun, share, app.whole));
                }
                scroller.scrollTop = top + event.clientY - next.clientY;
            },
            (wasClick, last) => {
                tracks.classList.remove("dragged");
                const spot = spotAt(last);
                if (wasClick && spot !== null) {
                    handlers.click(spot, last);
                }
            },
        );
    });
    tracks.addEventListener("dblclick", (event) => {
        const spot = spotAt(event);
        if (spot !== null) {
            handlers.doubleClick(spot);
        }
    });
    tracks.addEventListener("pointermove", (event) => {
        if (event.buttons === 0) {
            handlers.hover(spotAt(event), event.clientX, event.clientY);
        }
    });
    tracks.addEventListener("pointerleave", () => handlers.hover(null, 0, 0));

    ruler.addEventListener("pointerdown", (event) => {
        if (event.button === 0) {
            measure(ruler, event);
        }
    });

    const wheel = (event: WheelEvent, alwaysZoom: boolean): void => {
        const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
        const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
        if (event.ctrlKey || event.metaKey || alwaysZoom) {
            event.preventDefault();
            // A pinch comes as a wheel with small steps and the control key.
            const speed = event.ctrlKey && Math.abs(dy) < 50 ? WHEEL_ZOOM * 5 : WHEEL_ZOOM;
            app.zoom(Math.exp(dy * speed), Math.min(Math.max(place(event), 0), 1));
        } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
            event.preventDefault();
            app.pan((dx !== 0 ? dx : dy) / timeline.width);
        }
        handlers.hover(null, 0, 0);
    };
    tracks.addEventListener("wheel", (event) => wheel(event, false), { passive: false });
    ruler.addEventListener("wheel", (event) => wheel(event, true), { passive: false });
    minimap.addEventListener("wheel", (event) => wheel(event, true), { passive: false });
    listenToMinimap(app, minimap, place);
}

/** The part of @range that the trace has; null if it is empty. */
function cut(range: Range, whole: Range): Range | null {
    const from = Math.max(range.from, whole.from);
    const to = Math.min(range.to, whole.to);
    return to > from ? { from, to } : null;
}

/** A press inside the window moves it, one outside brings it there; with shift a new window is drawn. */
function listenToMinimap(
    app: State,
    minimap: HTMLElement,
    place: (event: MouseEvent) => number,
): void {
    minimap.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) {
            return;
        }
        const timeAt = (of: MouseEvent): number => view.xToTime(app.whole, 1, place(of));
        const start = timeAt(event);
        const isWhole = view.duration(app.view) >= view.duration(app.whole) * 0.999;
        if (event.shiftKey || isWhole) {
            drag(
                minimap,
                event,
                (next) => app.show(view.ordered(start, timeAt(next))),
                () => undefined,
            );
            return;
        }
        const half = view.duration(app.view) / 2;
        const isInside = start >= app.view.from && start <= app.view.to;
        const grip = isInside ? start - app.view.from : half;
        const to = (of: MouseEvent): void => {
            const from = timeAt(of) - grip;
            app.show({ from, to: from + half * 2 });
        };
        if (!isInside) {
            to(event);
        }
        drag(minimap, event, to, () => undefined);
    });
}
