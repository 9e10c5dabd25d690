import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import { bodyBytes } from '../../lib/pack.ts';
import type { Meter } from '../cost/meter.ts';

/**
 * A result as JSON: a string, or chunks of UTF-8 where it is large, which the heap does not hold and
 * nobody copies into one piece.
 */
export type JsonText = string | readonly Buffer[];

// JSON.stringify writes this many nodes within some tens of microseconds.
const NODES_AT_ONCE = 256;
// So much text is written within a millisecond or two.
const BLOCK_BYTES = 65_536;
const encoder = new TextEncoder();

/** Serializes the result: synchronously, or in slices where it is large. A plugin's own has no meter. */
export function jsonText(result: ExecutionResult, meter?: Meter): Eventually<JsonText> {
  return meter?.isCostly ? chunksInSlices(result, meter) : JSON.stringify(result);
}

async function chunksInSlices(
  result: ExecutionResult,
  { scheduler, client }: Meter,
): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let text = '';
  // Blocks of one size: buffers of many sizes that live as long as an answer would fragment the allocator's memory.
  const addBlock = () => {
    const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    const { read, written } = encoder.encodeInto(text, block);
    chunks.push(block.subarray(0, written));
    text = text.slice(read);
  };
  for (const piece of piecesOf(result)) {
    text += piece;
    if (text.length < BLOCK_BYTES) continue;
    while (text.length >= BLOCK_BYTES) addBlock();
    if (scheduler.isSliceOver()) await scheduler.turn(client);
  }
  while (text !== '') addBlock();
  return chunks;
}

/** Exactly what JSON.stringify would write. */
function* piecesOf(value: unknown): Generator<string> {
  if (nodesIn(value, NODES_AT_ONCE) <= NODES_AT_ONCE) {
    // An undefined item of a list is null; undefined properties are left out below.
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  const isList = Array.isArray(value);
  yield isList ? '[' : '{';
  let comma = '';
  for (const [key, each] of isList ? value.entries() : Object.entries(value as object)) {
    if (!isList && each === undefined) continue;
    yield isList ? comma : `${comma}${JSON.stringify(key)}:`;
    yield* piecesOf(each);
    comma = ',';
  }
  yield isList ? ']' : '}';
}

/** One with a `toJSON`, as errors have, counts as one. */
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

/** Joins a text into one buffer, in slices: the first write to fresh memory takes longer than the copy. */
export function jsonBytes(text: JsonText, meter: Meter): Eventually<Buffer> {
  return typeof text === 'string' ? Buffer.from(text) : joinInSlices(text, meter);
}

async function joinInSlices(
  chunks: readonly Buffer[],
  { scheduler, client }: Meter,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(bodyBytes(chunks));
  let at = 0;
  for (const chunk of chunks) {
    if (scheduler.isSliceOver()) await scheduler.turn(client);
    at += chunk.copy(bytes, at);
  }
  return bytes;
}
