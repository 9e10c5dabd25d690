// Parsed in about half a millisecond.
const PIECE_BYTES = 64 * 1024;
/** No item is as large. */
const MAX_PIECE_BYTES = 4 * PIECE_BYTES;

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
  const last = lastToken(bytes);
  let from = nextToken(bytes, 0);
  const isArray = bytes[from] === BEGIN_ARRAY && bytes[last] === END_ARRAY;
  if (!isArray) throw new SyntaxError('no array');
  from += 1;
  for (let length = pieceBytes; from < last; ) {
    const to = boundary(bytes, from + length, last);
    if (to - from > MAX_PIECE_BYTES) throw new SyntaxError('an item that is too large');
    const items = parsed(bytes, from, to, to === last);
    // The boundary is inside of an item: one beyond it is tried.
    if (items === null) length = 2 * (to - from);
    else {
      yield* items;
      from = to + 1;
      length = pieceBytes;
    }
  }
}

/**
 * The array that is the object's property of this name, as the bytes that `jsonItems` reads; null where that is not beyond doubt
 * without parsing it.
 */
export function listIn(bytes: Buffer, name: string): Buffer | null {
  const key = `"${name}"`;
  const at = bytes.indexOf(key);
  const from = nextToken(bytes, nextToken(bytes, at + key.length) + 1);
  const to = bytes.lastIndexOf(END_ARRAY) + 1;
  const isList = at >= 0 && bytes[from] === BEGIN_ARRAY && from < to;
  if (!isList || from + bytes.length - to > PIECE_BYTES) return null;
  const behind = bytes.toString('utf8', to);
  // Where a name comes twice the last one counts.
  if (behind.includes(key)) return null;
  try {
    // The text around it is an object with the list in its place.
    const around = JSON.parse(`${bytes.toString('utf8', 0, from)}[]${behind}`);
    return Array.isArray(around[name]) ? bytes.subarray(from, to) : null;
  } catch {
    return null;
  }
}

/**
 * A piece that is an array once brackets are around it begins and ends between items, whatever the text
 * on either side: nothing in it is left open. So a boundary may be guessed.
 */
function parsed(bytes: Buffer, from: number, to: number, isLast: boolean): unknown[] | null {
  try {
    return JSON.parse(`[${bytes.toString('utf8', from, to)}]`);
  } catch (error) {
    if (isLast) throw error;
    return null;
  }
}

/** A comma between two objects at or after `start`, most often two items; `last` where there is none. */
function boundary(bytes: Buffer, start: number, last: number): number {
  let at = bytes.indexOf(END_OBJECT, start);
  while (at !== -1) {
    const comma = nextToken(bytes, at + 1);
    if (bytes[comma] === COMMA && bytes[nextToken(bytes, comma + 1)] === BEGIN_OBJECT) return comma;
    at = bytes.indexOf(END_OBJECT, at + 1);
  }
  return last;
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
