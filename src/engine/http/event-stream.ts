import { once } from 'node:events';
import type { ExecutionResult } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { ResultIterator } from '../core/result-iterator.ts';
import type { StreamFormat } from './formats.ts';
import type { HttpExchange } from './http-exchange.ts';

/**
 * Sends the events of a subscription, or the parts of an answer, until there are no more, or the client disconnects. `first`
 * is a result that has been read already. The next event is read when the client has read enough, so a slow client gets one
 * merged event.
 */
export async function sendStream(
  exchange: HttpExchange,
  { contentType, framing }: StreamFormat,
  pingMs: number,
  results: ResultIterator,
  first?: IteratorResult<ExecutionResult>,
): Promise<void> {
  const { summary, disconnected: signal } = exchange;
  exchange.headers['content-type'] = contentType;
  exchange.headers['x-accel-buffering'] = 'no';
  const response = exchange.begin(200);
  const write = (text: string) => {
    if (text === '' || response.destroyed) return;
    summary.bytesOut += Buffer.byteLength(text);
    response.write(text);
  };
  // Some browsers do not pass the response to the page before its first bytes.
  write(framing.begin + framing.ping);
  // Pings keep proxies from closing a quiet connection, and detect a client that has disconnected.
  const pings = setInterval(() => {
    if (!response.writableNeedDrain) write(framing.ping);
  }, pingMs);
  // A quiet feed must not be followed until its next event when the client has disconnected.
  const leave = () => fireAndForget('results', results.return());
  response.once('close', leave);
  // The client may have disconnected before the listener was added.
  if (response.destroyed) leave();
  try {
    for (let next = first ?? (await results.next()); !next.done; next = await results.next()) {
      const sendable = results.unlessFailed(next.value);
      if (sendable === null) continue;
      summary.results += 1;
      write(framing.head + JSON.stringify(sendable) + framing.end);
      // Waits until the client has read enough, or has disconnected.
      if (response.writableNeedDrain) await once(response, 'drain', { signal }).catch(() => {});
    }
  } finally {
    clearInterval(pings);
  }
  write(framing.complete);
  response.end();
}
