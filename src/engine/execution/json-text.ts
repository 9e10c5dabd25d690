import type { ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { bodyBytes } from '../../lib/pack.ts';
import type { Meter } from '../operation/meter.ts';
import type { JsonText } from '../operation/result-sink.ts';
import { JsonWriter } from './json-writer.ts';

/** Serializes the result: synchronously, or in slices where it is large. */
export function jsonText(result: ExecutionResult, meter?: Meter): MaybePromise<JsonText> {
  return meter?.isCostly ? chunksInSlices(result, meter) : JSON.stringify(result);
}

async function chunksInSlices(
  result: ExecutionResult,
  { scheduler, client, blocks }: Meter,
): Promise<readonly Buffer[]> {
  const writer = new JsonWriter(blocks);
  for (const _piece of writer.write(result)) {
    if (scheduler.isSliceOver()) await scheduler.turn(client);
  }
  return writer.end();
}

/** Joins a text into one buffer, in slices: the first write to fresh memory takes longer than the copy. */
export function jsonBytes(text: JsonText, meter: Meter): MaybePromise<Buffer> {
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
