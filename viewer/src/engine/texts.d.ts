// What the build puts in: the bundled text of worker.ts.
declare module "worker-text" {
    const text: string;
    export default text;
}
