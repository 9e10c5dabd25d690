import type { ServerResponse } from 'node:http';
import type { SendBuffer } from './send-buffer.ts';

/**
 * Sends a stream piece by piece, each when the one before is taken: a reader that stalls is waited
 * for, until it is cut, and what it misses is merged behind it.
 */
export async function sendStream(
  response: ServerResponse,
  body: ReadableStream<Uint8Array>,
  unread: SendBuffer,
): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  const measure = () => unread.measure();
  // At once when the client leaves: a quiet feed would be followed until its next event otherwise.
  response.once('close', leave);
  try {
    while (!response.destroyed) {
      if (!unread.hasRoom()) await unread.room();
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      const isTaken = response.write(value, measure);
      unread.measureSoon();
      if (!isTaken) await drainedOrClosed(response);
    }
    response.end();
  } catch {
    response.destroy();
  } finally {
    response.off('close', leave);
    // It may have left before anybody listened.
    leave();
  }
}

function drainedOrClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
