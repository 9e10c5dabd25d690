/** A piece of this size is parsed in about half a millisecond. */
const PIECE_BYTES = 64 * 1024;
/** Larger than any item. */
const MAX_PIECE_BYTES = 4 * PIECE_BYTES;

const BEGIN_ARRAY = 0x5b;
const END_ARRAY = 0x5d;
const BEGIN_OBJECT = 0x7b;
const END_OBJECT = 0x7d;
const COMMA = 0x2c;

/**
 * The items of a JSON array, parsed piece by piece, so that the reader can yield to the event loop in between. Throws a
 * SyntaxError for anything but an array, and at the first piece that is not valid JSON.
 */
export function* jsonItems(bytes: Buffer, pieceBytes = PIECE_BYTES): Generator<unknown> {
  const begin = nextToken(bytes, 0);
  const end = lastToken(bytes);
  if (bytes[begin] !== BEGIN_ARRAY || bytes[end] !== END_ARRAY || end === begin) {
    throw new SyntaxError('no array');
  }
  let from = begin + 1;
  let length = pieceBytes;
  for (;;) {
    const to = boundary(bytes, from + length, end);
    if (to - from > MAX_PIECE_BYTES) throw new SyntaxError('an item that is too large');
    const items = parsed(bytes, from, to);
    if (items !== null) {
      yield* items;
      if (to === end) return;
      from = to + 1;
      length = pieceBytes;
    } else if (to === end) {
      throw new SyntaxError('items that cannot be parsed');
    } else {
      // The boundary is inside an item. A longer piece ends after it.
      length = 2 * (to - from);
    }
  }
}

/**
 * Null if the piece cannot be parsed. A piece that parses has no open bracket or string, so its guessed boundaries are
 * between items.
 */
function parsed(bytes: Buffer, from: number, to: number): unknown[] | null {
  try {
    return JSON.parse(`[${bytes.toString('utf8', from, to)}]`);
  } catch {
    return null;
  }
}

/** The first comma between two objects at or after `start`; `end` if there is none. */
function boundary(bytes: Buffer, start: number, end: number): number {
  let at = bytes.indexOf(END_OBJECT, start);
  while (at !== -1) {
    const comma = nextToken(bytes, at + 1);
    if (bytes[comma] === COMMA && bytes[nextToken(bytes, comma + 1)] === BEGIN_OBJECT) return comma;
    at = bytes.indexOf(END_OBJECT, at + 1);
  }
  return end;
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
