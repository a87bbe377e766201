// Instead of the bundled worker: tests have workers of their own.
export default "";
