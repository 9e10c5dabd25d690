import type { ServerResponse } from 'node:http';
import type { Connection } from '../connections/open-connections.ts';

/** The most requests of a connection that wait for the answers before theirs. */
const MAX_WAITING = 32;

/** Whether a further request of the connection may wait. Node reads all those that come in one read of the socket. */
export function mayWait({ waiting }: Connection): boolean {
  return waiting < MAX_WAITING;
}

/**
 * Back-pressure for HTTP pipelining: begins a request when the answers before it have been taken, and reads no further ones
 * until the last has begun.
 */
export function beginInOrder(
  connection: Connection,
  response: ServerResponse,
  begin: () => void,
): void {
  const { socket } = connection;
  connection.waiting += 1;
  // Behind Node, which resumes the socket at the end of each message, and before the next read.
  process.nextTick(() => connection.waiting > 0 && socket.pause());
  response.once('socket', () =>
    // In a turn of its own, so that other connections go in between.
    setImmediate(() => {
      connection.waiting -= 1;
      if (connection.waiting === 0) socket.resume();
      if (!socket.destroyed) begin();
    }),
  );
}
