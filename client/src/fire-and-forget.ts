/**
 * Starts work without waiting for it. Its failure is reported elsewhere, or matters to nobody; a rejection without a handler
 * would end a Node process.
 */
export function fireAndForget(work: Promise<unknown>): void {
  work.catch(() => {});
}
