import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Back-pressure for HTTP pipelining. Responses go out in order, so that all of them would be buffered
 * behind one that is not read: each request begins when the response before it is taken, and until
 * the last has begun no further ones are read.
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Calls back when the responses before it are taken; never where the connection closes first. */
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
    // After node itself, which resumes the socket at the end of each message.
    else setImmediate(() => this.#pause(socket));
  }

  #pause(socket: Socket): void {
    if ((this.#waiting.get(socket) ?? 0) > 0) socket.pause();
  }
}
