import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ReceiveBuffers } from '../receive/receive-buffers.ts';

/**
 * Back-pressure for HTTP pipelining. Responses go out in order, so that all of them would be buffered
 * behind one that is not read: each request begins when the response before it is taken, and until
 * the last has begun no further ones are read. Those that came in one read begin in turns with other connections.
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();
  readonly #received: ReceiveBuffers;

  constructor(received: ReceiveBuffers) {
    this.#received = received;
  }

  /** Calls back when the responses before it are taken; never where the connection closes first. */
  wait({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    this.#add(socket, 1);
    const beginInTurn = () => {
      if (this.#received.isRoundOver()) {
        setImmediate(beginInTurn);
        return;
      }
      this.#add(socket, -1);
      if (!socket.destroyed) begin();
    };
    response.once('socket', beginInTurn);
  }

  #add(socket: Socket, count: number): void {
    const waiting = (this.#waiting.get(socket) ?? 0) + count;
    this.#waiting.set(socket, waiting);
    if (waiting === 0) socket.resume();
    // After node itself, which resumes the socket at the end of each message.
    else setImmediate(() => this.#waiting.get(socket) && socket.pause());
  }
}
