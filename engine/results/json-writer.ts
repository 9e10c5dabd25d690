// JSON.stringify writes this many nodes within some tens of microseconds.
const NODES_AT_ONCE = 256;
const CHUNK_LENGTH = 65_536;

/** A list or an object that is partly written. */
interface Open {
  readonly values: readonly unknown[];
  /** Null for a list. */
  readonly keys: readonly string[] | null;
  readonly end: string;
  at: number;
}

/** Consecutive items of a list that are serialized already; it stands in the list in their place. */
export class SerializedItems {
  /** The items as JSON, separated by commas. */
  readonly chunks: readonly Buffer[];

  constructor(chunks: readonly Buffer[]) {
    this.chunks = chunks;
  }
}

/** Writes data piece by piece, exactly as JSON.stringify would, to chunks outside the heap. */
export class JsonWriter {
  readonly #open: Open[] = [];
  readonly #chunks: Buffer[] = [];
  readonly #blocks: TextBlocks;
  #text = '';

  constructor(value: object, blocks: TextBlocks) {
    this.#blocks = blocks;
    this.#enter(value);
  }

  /** Serializes items without the brackets of their list. */
  static items(values: readonly unknown[], blocks: TextBlocks): SerializedItems {
    const writer = new JsonWriter([], blocks);
    writer.#text = '';
    writer.#open[0] = { values, keys: null, end: '', at: 0 };
    while (!writer.isDone) writer.write(1);
    return new SerializedItems(writer.chunks);
  }

  get isDone(): boolean {
    return this.#open.length === 0;
  }

  get chunks(): readonly Buffer[] {
    this.#flush();
    return this.#chunks;
  }

  write(pieces: number): void {
    for (let left = pieces; left > 0 && !this.isDone; left -= 1) this.#next();
    if (this.#text.length > CHUNK_LENGTH) this.#flush();
  }

  #next(): void {
    const open = this.#open.at(-1) as Open;
    if (open.at === open.values.length) {
      this.#text += open.end;
      this.#open.pop();
      return;
    }
    const value = open.values[open.at];
    const key = open.keys?.[open.at];
    this.#text += `${open.at > 0 ? ',' : ''}${key === undefined ? '' : `${JSON.stringify(key)}:`}`;
    open.at += 1;
    if (value instanceof SerializedItems) this.#append(value);
    // JSON.stringify writes an undefined item of a list as null; undefined properties are filtered earlier.
    else if (isSmall(value)) this.#text += JSON.stringify(value) ?? 'null';
    else this.#enter(value as object);
  }

  #append({ chunks }: SerializedItems): void {
    this.#flush();
    for (const chunk of chunks) this.#chunks.push(chunk);
  }

  #flush(): void {
    this.#blocks.append(this.#text, this.#chunks);
    this.#text = '';
  }

  #enter(value: object): void {
    if (Array.isArray(value)) {
      this.#text += '[';
      this.#open.push({ values: value, keys: null, end: ']', at: 0 });
      return;
    }
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    this.#text += '{';
    const keys = entries.map(([key]) => key);
    this.#open.push({ values: entries.map(([, each]) => each), keys, end: '}', at: 0 });
  }
}

/** True for a value that is written in one call; one with a `toJSON`, as errors have, always is. */
function isSmall(value: unknown): boolean {
  return nodesIn(value, NODES_AT_ONCE) <= NODES_AT_ONCE;
}

function nodesIn(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof SerializedItems) return Number.POSITIVE_INFINITY;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return 1;
  let nodes = 1;
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    nodes += nodesIn(each, limit - nodes);
    if (nodes > limit) break;
  }
  return nodes;
}

const BLOCK_BYTES = 65_536;
const encoder = new TextEncoder();
const NONE = Buffer.alloc(0);

/**
 * Encodes texts into blocks of one size. Buffers of many sizes that live as long as an answer would
 * fragment the allocator's memory, which then stays resident.
 */
export class TextBlocks {
  #block = NONE;
  #used = 0;

  /** Adds the text's bytes to the chunks. */
  append(text: string, chunks: Buffer[]): void {
    for (let rest = text; rest !== ''; ) {
      const { read, written } = encoder.encodeInto(rest, this.#block.subarray(this.#used));
      if (written > 0) chunks.push(this.#block.subarray(this.#used, this.#used + written));
      this.#used += written;
      rest = rest.slice(read);
      if (rest === '') return;
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
    }
  }
}
