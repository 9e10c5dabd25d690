import { BLOCK_BYTES, type TextBlocks } from '../../lib/text-blocks.ts';

// JSON.stringify writes this many nodes within some tens of microseconds.
const NODES_AT_ONCE = 256;
const PIECES_BETWEEN_LOOKS = 32;

/** Consecutive items of a list that are written already; it stands in the list in their place. */
export class WrittenItems {
  /** The items as JSON, separated by commas. */
  readonly chunks: readonly Buffer[];

  constructor(values: readonly unknown[], blocks: TextBlocks) {
    const writer = new JsonWriter(blocks);
    // The items are few enough for one turn.
    Array.from(writer.items(values));
    this.chunks = writer.end();
  }
}

/** Writes values as chunks outside the heap, exactly as JSON.stringify would. */
export class JsonWriter {
  readonly #chunks: Buffer[] = [];
  readonly #blocks: TextBlocks;
  #text = '';
  #pieces = 0;

  constructor(blocks: TextBlocks) {
    this.#blocks = blocks;
  }

  /** Yields after some pieces, so that others can have their turn: the text of as many can be short. */
  *write(value: unknown): Generator<undefined> {
    if (value instanceof WrittenItems) {
      this.#flush();
      for (const chunk of value.chunks) this.#chunks.push(chunk);
    } else if (nodesIn(value, NODES_AT_ONCE) <= NODES_AT_ONCE) {
      // An undefined item of a list is null; undefined properties are left out below.
      this.#text += JSON.stringify(value) ?? 'null';
    } else if (Array.isArray(value)) {
      this.#text += '[';
      yield* this.items(value);
      this.#text += ']';
    } else {
      this.#text += '{';
      const entries = Object.entries(value as object).filter(([, each]) => each !== undefined);
      for (const [at, [key, each]] of entries.entries()) {
        this.#text += `${at > 0 ? ',' : ''}${JSON.stringify(key)}:`;
        yield* this.write(each);
      }
      this.#text += '}';
    }
    if (this.#text.length >= BLOCK_BYTES) this.#flush();
    this.#pieces += 1;
    if (this.#pieces % PIECES_BETWEEN_LOOKS === 0) yield;
  }

  /** Writes items without the brackets of their list. */
  *items(values: readonly unknown[]): Generator<undefined> {
    for (const [at, each] of values.entries()) {
      if (at > 0) this.#text += ',';
      yield* this.write(each);
    }
  }

  end(): readonly Buffer[] {
    this.#flush();
    return this.#chunks;
  }

  #flush(): void {
    this.#blocks.append(this.#text, this.#chunks);
    this.#text = '';
  }
}

/** Stops counting beyond the limit. One with a `toJSON`, as errors have, counts as one. */
function nodesIn(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof WrittenItems) return Number.POSITIVE_INFINITY;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return 1;
  let nodes = 1;
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    nodes += nodesIn(each, limit - nodes);
    if (nodes > limit) break;
  }
  return nodes;
}
