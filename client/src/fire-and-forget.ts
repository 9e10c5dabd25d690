/**
 * Starts work without waiting for it. A failure is reported elsewhere, or may be ignored; without a handler the rejection
 * would end a Node process.
 */
export function fireAndForget(work: Promise<unknown>): void {
  work.catch(() => {});
}
