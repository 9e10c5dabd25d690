import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Meter } from '../operation/meter.ts';
import type { JsonText } from '../operation/result-sink.ts';

// JSON.stringify writes this many nodes within some tens of microseconds.
const NODES_AT_ONCE = 256;
// Reading the clock for each piece would cost more than a short piece.
const PIECES_BETWEEN_CLOCK_CHECKS = 32;
const CHUNK_LENGTH = 65_536;

/** Serializes a result: synchronously, or in slices if it is large. */
export function jsonText(result: object, meter?: Meter): MaybePromise<JsonText> {
  return meter?.isCostly ? chunksInSlices(result, meter) : JSON.stringify(result);
}

/** Returns chunks of UTF-8, which are stored outside the heap. */
async function chunksInSlices(
  result: object,
  { scheduler, client }: Meter,
): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let text = '';
  let pieces = 0;
  for (const piece of piecesOf(result)) {
    text += piece;
    pieces += 1;
    if (text.length >= CHUNK_LENGTH) {
      chunks.push(Buffer.from(text));
      text = '';
    }
    // Many pieces can have a short text, so the clock is checked by the number of pieces.
    const isClockChecked = pieces % PIECES_BETWEEN_CLOCK_CHECKS === 0;
    if (isClockChecked && scheduler.isSliceOver()) await scheduler.turn(client);
  }
  chunks.push(Buffer.from(text));
  return chunks;
}

/** Yields the JSON of a value in pieces. Joined, they are exactly the output of JSON.stringify. */
function* piecesOf(value: unknown): Generator<string> {
  if (nodesIn(value, NODES_AT_ONCE) <= NODES_AT_ONCE) {
    // In a list an undefined item becomes null. Undefined properties are left out below.
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    yield '[';
    for (const [index, each] of value.entries()) {
      if (index > 0) yield ',';
      yield* piecesOf(each);
    }
    yield ']';
  } else {
    yield '{';
    const entries = Object.entries(value as object).filter(([, each]) => each !== undefined);
    for (const [index, [key, each]] of entries.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(key)}:`;
      yield* piecesOf(each);
    }
    yield '}';
  }
}

/** Counts the nodes of a value, up to just above the limit. A value with a `toJSON`, such as an error, counts as one. */
function nodesIn(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return 1;
  let nodes = 1;
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    nodes += nodesIn(each, limit - nodes);
    if (nodes > limit) break;
  }
  return nodes;
}
