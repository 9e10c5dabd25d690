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
  // At once when the client leaves: a quiet feed would be followed until its next event otherwise.
  response.once('close', leave);
  try {
    while (!response.destroyed) {
      if (!unread.hasRoom()) await unread.room();
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      await taken(response, value, unread);
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

/** Resolves when the kernel has taken the piece, or the connection has closed; rejects when writing fails. */
function taken(response: ServerResponse, piece: Uint8Array, unread: SendBuffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // A piece that is still corked when the connection closes is not called back for.
    response.once('close', resolve);
    response.write(piece, (error) => {
      response.off('close', resolve);
      unread.measure();
      if (error) reject(error);
      else resolve();
    });
    unread.measureSoon();
  });
}
