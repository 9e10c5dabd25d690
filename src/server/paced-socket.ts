import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ResultSink } from '../engine/live/delivery.ts';
import { FrameWriter } from './frame-writer.ts';

// Several of the largest lists. Who takes nothing and asks for ever more is not listened to either.
const MOST_UNSENT_BYTES = 1_048_576;

/**
 * Resolved when the bytes have left for the network, or never will. Whoever waits for it before
 * making the next message holds one message at most for a reader that stalls.
 */
export function sendPaced(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) {
      resolve();
      return;
    }
    socket.send(text, () => {
      resumeReading(socket);
      resolve();
    });
  });
}

/** A WebSocket, and what it writes to. */
export interface PacedLine {
  readonly socket: WebSocket;
  readonly stream: Duplex;
}

/** Sends the results of one subscription, each in a message of the protocol, the next when one has left. */
export class PacedResults implements ResultSink {
  readonly #socket: WebSocket;
  readonly #frames: FrameWriter;

  constructor({ socket, stream }: PacedLine, id: string) {
    this.#socket = socket;
    this.#frames = new FrameWriter(stream, `{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  send(result: string, left: () => void): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) {
      left();
      return;
    }
    this.#frames.write(result, left);
    resumeReading(socket);
  }
}

/** To be called for each message: stops reading until the answers to the earlier ones are taken. */
export function paceReading(socket: WebSocket): void {
  if (!socket.isPaused && socket.bufferedAmount > MOST_UNSENT_BYTES) socket.pause();
}

function resumeReading(socket: WebSocket): void {
  if (socket.isPaused && socket.bufferedAmount <= MOST_UNSENT_BYTES) socket.resume();
}
