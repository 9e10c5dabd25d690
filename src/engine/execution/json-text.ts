import type { ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
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
