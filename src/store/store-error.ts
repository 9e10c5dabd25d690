/** The store that was named cannot be used as it is; the message says why, on one line. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}
