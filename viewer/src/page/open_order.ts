// open_order.ts - what main.ts opens while something else may still be opening: order, and what is closed. Knows no page.

/** Several are opened at once: the one asked for last stays, however long the others take. */
export class OpenOrder {
    private count = 0;
    private shown = 0;

    /** @ask: what showing it needs. @show: at once. @close: whoever is opened and not shown. Rejects unless a later one is shown. */
    async take<Opened, Asked>(steps: {
        open(): Promise<Opened>;
        ask(opened: Opened): Promise<Asked>;
        show(opened: Opened, asked: Asked): void;
        close(opened: Opened): void;
    }): Promise<void> {
        const turn = ++this.count;
        try {
            const opened = await steps.open();
            try {
                const asked = await steps.ask(opened);
                if (turn < this.shown) {
                    steps.close(opened);
                    return;
                }
                steps.show(opened, asked);
                this.shown = turn;
            } catch (error) {
                steps.close(opened);
                throw error;
            }
        } catch (error) {
            if (turn >= this.shown) {
                throw error;
            }
        }
    }
}

/** Makes it once; what could not be made is made anew. */
export function keep<T>(make: () => Promise<T>): () => Promise<T> {
    let made: Promise<T> | null = null;
    return () => {
        made ??= make().catch((error: unknown) => {
            made = null;
            throw error;
        });
        return made;
    };
}
