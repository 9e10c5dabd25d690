/** Consecutive items of a list that are serialized already; it stands in the list in their place. */
export class SerializedItems {
  /** The items as JSON, separated by commas. */
  readonly chunks: readonly Buffer[];

  constructor(chunks: readonly Buffer[]) {
    this.chunks = chunks;
  }
}
