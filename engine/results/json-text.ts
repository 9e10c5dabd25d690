import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Meter } from '../cost/meter.ts';
import { JsonWriter } from './json-writer.ts';

/**
 * A result as JSON: a string, or chunks of UTF-8 where it is large, which the heap does not hold and
 * nobody copies into one piece.
 */
export type JsonText = string | readonly Buffer[];

const PIECES_BETWEEN_LOOKS = 32;

/** Serializes the result: synchronously, or in slices where it is large. A plugin's own has no meter. */
export function jsonText(result: ExecutionResult, meter?: Meter): Eventually<JsonText> {
  return meter?.isCostly ? chunksInSlices(result, meter) : JSON.stringify(result);
}

async function chunksInSlices(result: ExecutionResult, meter: Meter): Promise<readonly Buffer[]> {
  const { scheduler, client } = meter;
  const writer = new JsonWriter(result, meter.blocks);
  while (!writer.isDone) {
    if (scheduler.isSliceOver()) await scheduler.turn(client);
    writer.write(PIECES_BETWEEN_LOOKS);
  }
  return writer.chunks;
}

/** Joins a text into one buffer, in slices: the first write to fresh memory takes longer than the copy. */
export function jsonBytes(text: JsonText, { scheduler, client }: Meter): Eventually<Buffer> {
  return typeof text === 'string' ? Buffer.from(text) : joinInSlices(text, scheduler, client);
}

async function joinInSlices(
  chunks: readonly Buffer[],
  scheduler: FairScheduler,
  client: string,
): Promise<Buffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const chunk of chunks) {
    if (scheduler.isSliceOver()) await scheduler.turn(client);
    at += chunk.copy(bytes, at);
  }
  return bytes;
}
