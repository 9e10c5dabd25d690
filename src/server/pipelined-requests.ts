import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface PipelinedRequest {
  /** The answers before it are taken: its own may be made. */
  begin(): void;
  /** Its connection closed before that. */
  left(): void;
}

/**
 * Requests that a client sends on a connection before it has the answers to its earlier ones. Answers
 * go out in order, so that all of them would have to be kept behind one that nobody reads: each is
 * begun when the one before is taken, and until the last has begun no further ones are read.
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  wait(request: IncomingMessage, response: ServerResponse, pipelined: PipelinedRequest): void {
    const { socket } = request;
    this.#add(socket, 1);
    const begin = () => {
      request.off('close', left);
      this.#add(socket, -1);
      pipelined.begin();
    };
    const left = () => {
      response.off('socket', begin);
      pipelined.left();
    };
    response.once('socket', begin);
    request.once('close', left);
  }

  #add(socket: Socket, count: number): void {
    const waiting = (this.#waiting.get(socket) ?? 0) + count;
    this.#waiting.set(socket, waiting);
    if (waiting > 0) socket.pause();
    else socket.resume();
  }
}
