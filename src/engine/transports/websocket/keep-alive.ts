import type { WebSocket } from 'ws';

// A busy client or a poor network may not answer for a minute. A pause of this process leaves one ping unanswered.
const MAX_UNANSWERED_PINGS = 5;

/** Detects half-open connections, which look like quiet ones. For a client that does not read, another deadline counts. */
export function keepAlive(socket: WebSocket, pingMs: number): void {
  let unanswered = 0;
  for (const event of ['message', 'ping', 'pong']) {
    socket.on(event, () => {
      unanswered = 0;
    });
  }
  const pings = setInterval(() => {
    if (socket.readyState !== socket.OPEN || socket.bufferedAmount > 0) return;
    if (unanswered >= MAX_UNANSWERED_PINGS) {
      socket.terminate();
      return;
    }
    unanswered += 1;
    socket.ping();
  }, pingMs);
  socket.once('close', () => clearInterval(pings));
}
