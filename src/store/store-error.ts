/** The configured store cannot be used. The message gives the reason on one line. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}
