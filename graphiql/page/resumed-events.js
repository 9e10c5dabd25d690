import { isEventStream, readEventStream } from './event-stream.js';

/**
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {(signal: AbortSignal, cursor: string | null) => Promise<Response>} Connect Sends the operation, after an event with this cursor.
 * @typedef {ReturnType<import('./answer-bar.js').AnswerBar['openStream']>} Log
 */

const LONGEST_PAUSE_MS = 10_000;
/** @type {IteratorReturnResult<undefined>} */
const END = { value: undefined, done: true };

/**
 * The events of a subscription, over as many connections as it takes: it resumes by the cursor of the last event, with the token that it
 * began with. `return` ends it at once: a generator would end only after its next event.
 *
 * @param {{ response: Response, line: AbortController, connect: Connect, log: Log, onResult: (result: GraphQLResult) => Promise<void> }} parts
 * @returns {AsyncIterableIterator<GraphQLResult>}
 */
export function resumedEvents({ response, line, connect, log, onResult }) {
  const stop = new AbortController();
  const encoder = new TextEncoder();
  let texts = textsOf(response);
  /** @type {string | null} */
  let cursor = null;
  let failures = 0;
  // A line that died with the network is told nothing. One to this machine is there at once again.
  addEventListener('offline', () => line.abort(), { signal: stop.signal });
  stop.signal.addEventListener('abort', () => line.abort());

  async function resumed() {
    log.lose();
    for (;;) {
      await pause(Math.min(LONGEST_PAUSE_MS, 1000 * (2 ** failures - 1)), stop.signal);
      failures += 1;
      if (stop.signal.aborted) return texts;
      line = new AbortController();
      const again = await connect(line.signal, cursor).catch(() => null);
      if (again && again.status < 500) return textsOf(again);
    }
  }

  /** @returns {Promise<IteratorResult<GraphQLResult>>} */
  async function next() {
    while (!stop.signal.aborted) {
      try {
        const { value, done } = await texts.next();
        if (done) {
          log.end('complete');
          stop.abort();
          return END;
        }
        /** @type {GraphQLResult} */
        const result = JSON.parse(value);
        const [event] = Object.values(result.data ?? {});
        cursor = event?.cursor ?? cursor;
        failures = 0;
        log.add({ at: new Date(), bytes: encoder.encode(value).length, result });
        await onResult(result);
        return { value: result, done: false };
      } catch {
        texts = await resumed();
      }
    }
    return END;
  }

  async function end() {
    log.end('stopped');
    stop.abort();
    return END;
  }

  const iterator = { next, return: end, [Symbol.asyncIterator]: () => iterator };
  return /** @type {AsyncIterableIterator<GraphQLResult>} */ (iterator);
}

/**
 * The events of an answer; one of another kind, which refuses, is the only one.
 *
 * @param {Response} response
 */
async function* textsOf(response) {
  if (isEventStream(response) && response.body) yield* readEventStream(response.body);
  else yield await response.text();
}

/**
 * Waits, but for no longer than the network is away.
 *
 * @param {number} ms
 * @param {AbortSignal} stopped
 */
function pause(ms, stopped) {
  return new Promise((resolve) => {
    const over = AbortSignal.any([stopped, AbortSignal.timeout(ms)]);
    over.addEventListener('abort', resolve);
    addEventListener('online', resolve, { signal: over });
  });
}
