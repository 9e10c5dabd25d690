// Parsed in about half a millisecond.
const PIECE_BYTES = 64 * 1024;
/** No item is as large. */
const MAX_PIECE_BYTES = 4 * PIECE_BYTES;
/** Each that is tried costs the parsing of a piece. */
const MAX_ENDS = 8;

const BEGIN_ARRAY = 0x5b;
const END_ARRAY = 0x5d;
const BEGIN_OBJECT = 0x7b;
const END_OBJECT = 0x7d;
const COMMA = 0x2c;

/**
 * The items of a JSON array, parsed some at a time, so that its reader can yield to the event loop in
 * between. Throws a SyntaxError where `JSON.parse` would, but only once it gets there, and for anything but an array.
 */
export function* jsonItems(bytes: Buffer, pieceBytes = PIECE_BYTES): Generator<unknown> {
  const end = yield* itemsFrom(bytes, nextToken(bytes, 0), pieceBytes);
  if (nextToken(bytes, end) < bytes.length) throw new SyntaxError('more than an array');
}

/**
 * The object whose properties of these names are long lists, in their usual order: `add` is called with the items of each, of which
 * the object returned has none. It yields after each item, and throws a SyntaxError for anything that is not such an object beyond
 * doubt, perhaps after the last item.
 */
export function* jsonObject(
  bytes: Buffer,
  lists: Readonly<Record<string, (item: unknown) => void>>,
  pieceBytes = PIECE_BYTES,
): Generator<void, Readonly<Record<string, unknown>>> {
  let beside = '';
  let from = 0;
  const read: string[] = [];
  for (const [name, add] of Object.entries(lists)) {
    const key = `"${name}"`;
    const at = bytes.indexOf(key, from);
    const begin = nextToken(bytes, nextToken(bytes, at + key.length) + 1);
    if (at === -1 || begin - from > PIECE_BYTES || bytes[begin] !== BEGIN_ARRAY) continue;
    beside += `${bytes.toString('utf8', from, begin)}[]`;
    const items = itemsFrom(bytes, begin, pieceBytes);
    let item = items.next();
    for (; !item.done; item = items.next()) {
      add(item.value);
      yield;
    }
    from = item.value;
    read.push(name);
  }
  if (bytes.length - from > PIECE_BYTES) throw new SyntaxError('much beside the lists');
  const object = JSON.parse(beside + bytes.toString('utf8', from));
  // A name in a text or deeper down is none of the object's, and where one comes twice the last one counts.
  const isCertain = (name: string) => Array.isArray(object[name]) && object[name].length === 0;
  const isOnce = (name: string) => bytes.indexOf(`"${name}"`) === bytes.lastIndexOf(`"${name}"`);
  if (!read.every((name) => isCertain(name) && isOnce(name))) throw new SyntaxError('no such list');
  return object;
}

/** The items of the array that begins there; returns where it ended. */
function* itemsFrom(bytes: Buffer, begin: number, pieceBytes: number): Generator<unknown, number> {
  if (bytes[begin] !== BEGIN_ARRAY) throw new SyntaxError('no array');
  let from = begin + 1;
  for (let length = pieceBytes; ; ) {
    const to = boundary(bytes, from + length);
    if (to - from > MAX_PIECE_BYTES) throw new SyntaxError('an item that is too large');
    const items = to < bytes.length ? parsed(bytes, from, to) : null;
    if (items !== null) {
      yield* items;
      from = to + 1;
      length = pieceBytes;
      continue;
    }
    for (const end of endsIn(bytes, from, to)) {
      const last = parsed(bytes, from, end);
      if (last === null) continue;
      yield* last;
      return end + 1;
    }
    if (to === bytes.length) throw new SyntaxError('an array without an end');
    // The boundary is inside of an item: one beyond it is tried.
    length = 2 * (to - from);
  }
}

/**
 * A piece that is an array once brackets are around it begins and ends between items, whatever the text
 * on either side: nothing in it is left open. So a boundary, or the end, may be guessed.
 */
function parsed(bytes: Buffer, from: number, to: number): unknown[] | null {
  try {
    return JSON.parse(`[${bytes.toString('utf8', from, to)}]`);
  } catch {
    return null;
  }
}

/** Where an array may end whose items begin at `from`: at once, with the bytes, or behind one of the first objects that a bracket follows. */
function* endsIn(bytes: Buffer, from: number, to: number): Generator<number> {
  const first = nextToken(bytes, from);
  if (bytes[first] === END_ARRAY && bytes[from - 1] === BEGIN_ARRAY) yield first;
  const last = lastToken(bytes);
  if (to === bytes.length && bytes[last] === END_ARRAY && last > first) yield last;
  let at = from;
  for (let ends = 0; ends < MAX_ENDS; ) {
    at = bytes.indexOf(END_OBJECT, at) + 1;
    if (at === 0 || at >= to) return;
    const end = nextToken(bytes, at);
    if (bytes[end] !== END_ARRAY) continue;
    ends += 1;
    yield end;
  }
}

/** A comma between two objects at or after `start`, most often two items; the end of the bytes where there is none. */
function boundary(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(END_OBJECT, start);
  while (at !== -1) {
    const comma = nextToken(bytes, at + 1);
    if (bytes[comma] === COMMA && bytes[nextToken(bytes, comma + 1)] === BEGIN_OBJECT) return comma;
    at = bytes.indexOf(END_OBJECT, at + 1);
  }
  return bytes.length;
}

function nextToken(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function lastToken(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (isSpace(bytes[at])) at -= 1;
  return at;
}

/** The four characters that JSON allows between tokens. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
