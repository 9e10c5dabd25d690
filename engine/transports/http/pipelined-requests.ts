import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ReceiveBuffers } from '../connections/receive-buffers.ts';

/**
 * Back-pressure for HTTP pipelining. Responses go out in order, so that all of them would be buffered
 * behind one that is not read: each request begins when the response before it is taken, and until
 * the last has begun no further ones are read. Those that came in one read begin in turns with other connections.
 */
export function createPipelining(received: ReceiveBuffers) {
  const waiting = new WeakMap<Socket, number>();

  function add(socket: Socket, count: number): void {
    const sum = (waiting.get(socket) ?? 0) + count;
    waiting.set(socket, sum);
    if (sum === 0) socket.resume();
    // After node itself, which resumes the socket at the end of each message.
    else setImmediate(() => waiting.get(socket) && socket.pause());
  }

  /** Calls back when the responses before it are taken; never where the connection closes first. */
  return ({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void => {
    add(socket, 1);
    const beginInTurn = () => {
      if (received.isRoundOver()) {
        setImmediate(beginInTurn);
        return;
      }
      add(socket, -1);
      if (!socket.destroyed) begin();
    };
    response.once('socket', beginInTurn);
  };
}
