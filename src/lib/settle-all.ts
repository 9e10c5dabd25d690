/**
 * Like Promise.all, but rejects only after all have settled, so that the caller can close what they
 * opened.
 */
export async function settleAll<const T extends readonly Promise<unknown>[]>(promises: T) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
