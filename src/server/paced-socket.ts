import type { WebSocket } from 'ws';

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
      if (socket.isPaused && socket.bufferedAmount <= MOST_UNSENT_BYTES) socket.resume();
      resolve();
    });
  });
}

/** To be called for each message: stops reading until the answers to the earlier ones are taken. */
export function paceReading(socket: WebSocket): void {
  if (!socket.isPaused && socket.bufferedAmount > MOST_UNSENT_BYTES) socket.pause();
}
