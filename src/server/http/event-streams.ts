import type { ServerResponse } from 'node:http';
import { drainedOrClosed } from '../../lib/drained-or-closed.ts';
import type { SendBuffer } from '../back-pressure/send-buffer.ts';
import type { LastingConnections } from '../closing-in-slices.ts';
import type { EventStream } from './event-stream.ts';

/** The open event streams of subscriptions, which a drain has to end. */
export class EventStreams implements LastingConnections {
  readonly #open = new Set<ServerResponse>();
  #draining = false;

  /** A stream that opens during the drain is ended as well, or the drain would wait for it. */
  add(stream: ServerResponse): void {
    if (this.#draining) stream.destroy();
    else this.#open.add(stream);
  }

  delete(stream: ServerResponse): void {
    this.#open.delete(stream);
  }

  get remaining(): number {
    return this.#open.size;
  }

  /** Clients reconnect, and reach another replica. */
  closeOldest(count: number): void {
    let left = count;
    for (const stream of this.#open) {
      if (left === 0) return;
      left -= 1;
      this.#open.delete(stream);
      stream.destroy();
    }
  }

  drain(): void {
    this.#draining = true;
  }
}

/**
 * Sends what yoga makes of a stream with back-pressure, each piece when the one before is flushed: a reader
 * that stalls is waited for until it is cut.
 */
export async function sendStream(
  response: ServerResponse,
  body: ReadableStream<Uint8Array>,
  events: EventStream,
  unread: SendBuffer,
): Promise<void> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  // Cancelled as soon as the client disconnects: a quiet feed would be followed until its next event.
  response.once('close', leave);
  events.begin(response, unread);
  try {
    while (!response.destroyed) {
      if (!unread.hasRoom()) await unread.room();
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      if (!events.piece(value)) await drainedOrClosed(response);
    }
    events.end();
  } catch {
    response.destroy();
  } finally {
    response.off('close', leave);
    // The client may have disconnected before the listener was added.
    leave();
  }
}
