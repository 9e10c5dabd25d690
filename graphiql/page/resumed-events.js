/**
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {import('./types.d.ts').GraphiQLModule['EventStreamReader']} EventStreamReader The client's own.
 * @typedef {(signal: AbortSignal, cursor: string | null) => Promise<Response>} Connect Sends the operation, after an event with this cursor.
 * @typedef {ReturnType<import('./answer-bar.js').AnswerBar['openStream']>} Log
 */

const MAX_PAUSE_MS = 10_000;

/** @param {Response} response */
export function isEventStream(response) {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/**
 * The events of a subscription, over as many connections as it takes: it resumes by the cursor of the last event, with the token that it
 * began with.
 *
 * @param {{ response: Response, line: AbortController, connect: Connect, log: Log, onResult: (result: GraphQLResult) => Promise<void>, EventStreamReader: EventStreamReader }} parts
 */
export function resumedEvents({ response: first, line, connect, log, ...parts }) {
  const stop = new AbortController();
  const encoder = new TextEncoder();
  stop.signal.addEventListener('abort', () => line.abort());
  // A line that died with the network is told nothing. One to this machine is there at once again.
  addEventListener('offline', () => line.abort(), { signal: stop.signal });

  /** @returns {AsyncGenerator<GraphQLResult, void>} */
  async function* follow() {
    /** @type {Response | null} */
    let response = first;
    /** @type {string | null} */
    let cursor = null;
    let failures = 0;
    while (!stop.signal.aborted) {
      try {
        response ??= await connect(line.signal, cursor);
        for await (const text of textsOf(response, new parts.EventStreamReader())) {
          /** @type {GraphQLResult} */
          const result = JSON.parse(text);
          const [event] = Object.values(result.data ?? {});
          cursor = event?.cursor ?? cursor;
          failures = 0;
          log.add({ at: new Date(), bytes: encoder.encode(text).length, result });
          await parts.onResult(result);
          yield result;
        }
        log.end('Complete');
        stop.abort();
      } catch {
        log.lose();
        await pause(Math.min(MAX_PAUSE_MS, 1000 * (2 ** failures - 1)), stop.signal);
        failures += 1;
        response = null;
        line = new AbortController();
      }
    }
  }

  const results = follow();
  const end = results.return.bind(results);
  // By itself a generator would end only after its next event.
  return Object.assign(results, {
    return() {
      log.end('Stopped');
      stop.abort();
      return end(undefined);
    },
  });
}

/**
 * The events of an answer; one of another kind, which refuses, is the only one.
 *
 * @param {Response} response
 * @param {InstanceType<EventStreamReader>} reader
 */
export async function* textsOf(response, reader) {
  if (response.status >= 500) throw new Error(`status ${response.status}`);
  const stream = isEventStream(response) ? response.body?.getReader() : null;
  if (!stream) {
    yield await response.text();
    return;
  }
  for (;;) {
    const { value, done } = await stream.read();
    if (done) throw new Error('the stream ended before it was complete');
    for (const { event, data } of reader.read(value)) {
      if (event === 'complete') return;
      if (event === 'next') yield data;
    }
  }
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
