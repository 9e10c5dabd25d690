import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that a client sends on a connection before it has the answers to its earlier ones. Answers
 * go out in order, so that all of them would have to be kept behind one that nobody reads: each is
 * begun when the one before is taken, and until the last has begun no further ones are read.
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Calls back when the answers before it are taken; not where the connection closes before that. */
  wait({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    this.#add(socket, 1);
    response.once('socket', () => {
      this.#add(socket, -1);
      begin();
    });
  }

  #add(socket: Socket, count: number): void {
    const waiting = (this.#waiting.get(socket) ?? 0) + count;
    this.#waiting.set(socket, waiting);
    if (waiting === 0) socket.resume();
    // Behind node itself, which resumes the socket at the end of each message.
    else setImmediate(() => this.#pause(socket));
  }

  #pause(socket: Socket): void {
    if ((this.#waiting.get(socket) ?? 0) > 0) socket.pause();
  }
}
