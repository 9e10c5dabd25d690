/** Like Promise.all, but rejects only when none is under way any more: what they opened can be closed then. */
export async function settleAll<const T extends readonly Promise<unknown>[]>(promises: T) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
