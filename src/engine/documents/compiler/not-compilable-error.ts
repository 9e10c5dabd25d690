/** Thrown where an operation selects what only the reference executor executes. */
export class NotCompilableError extends Error {}
