import { textsOf } from './resumed-events.js';

/**
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {import('./types.d.ts').GraphiQLModule['EventStreamReader']} EventStreamReader
 */

/**
 * The answer of a query with `@defer` as it grows: each part belongs to the root, and the result so far is shown with it.
 *
 * @param {Response} response
 * @param {InstanceType<EventStreamReader>} reader
 * @param {(result: GraphQLResult, bytes: number) => Promise<void>} onWhole
 * @returns {AsyncGenerator<GraphQLResult, void>}
 */
export async function* deferredParts(response, reader, onWhole) {
  const encoder = new TextEncoder();
  /** @type {GraphQLResult} */
  let whole = {};
  let bytes = 0;
  for await (const text of textsOf(response, reader)) {
    bytes += encoder.encode(text).length;
    const { incremental = [], hasNext: _, ...part } = JSON.parse(text);
    for (const each of [part, ...incremental]) {
      const { data, errors = [], extensions } = each;
      whole = {
        ...whole,
        ...(data && { data: { ...(whole.data ?? {}), ...data } }),
        ...(errors.length > 0 && { errors: [...(whole.errors ?? []), ...errors] }),
        ...(extensions && { extensions }),
      };
    }
    yield whole;
  }
  await onWhole(whole, bytes);
}
