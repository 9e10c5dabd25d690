import type { ServerResponse } from 'node:http';

/**
 * Sends a stream piece by piece, each when the one before is taken: a reader that stalls is waited
 * for, up to `unreadMs`, and what it misses is merged behind it.
 */
export async function sendStream(
  response: ServerResponse,
  body: ReadableStream<Uint8Array>,
  unreadMs: number,
): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  // At once when the client leaves: a quiet feed would be followed until its next event otherwise.
  response.once('close', leave);
  try {
    while (!response.destroyed) {
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      if (!response.write(value)) await takenOrGone(response, unreadMs);
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

function takenOrGone(response: ServerResponse, unreadMs: number): Promise<void> {
  return new Promise((resolve) => {
    const tooLong = setTimeout(() => response.destroy(), unreadMs);
    const done = () => {
      clearTimeout(tooLong);
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
