import { CloseCode } from 'graphql-ws';

/**
 * The ways in which this server closes a WebSocket beside the protocol's own, which graphql-ws has: the close code and the
 * reason that its client reads. `ws` itself closes broken frames with 1002, 1007, 1008 and 1009. Without a close frame end
 * sockets that are silent for too long, slow readers, the oldest idle one of a crowded address, and what is open when a
 * shutdown's time is over.
 */
export const CLOSINGS = {
  // The client breaks the protocol.
  header: [CloseCode.BadRequest, 'A header of connectionParams cannot be sent on'],
  unreadable: [CloseCode.BadRequest, 'Invalid message received'],
  // The client sends too much, or holds too many sockets.
  inflated: [1009, 'Messages unpack to too much'],
  rate: [1013, 'Too many messages'],
  process: [1013, 'Too much unfinished'],
  pieces: [1008, 'Too many pieces'],
  age: [1008, 'Message took too long'],
  sockets: [1013, 'Too many sockets'],
  // Its token has ended: the reason is the error's code.
  tokenEnd: [CloseCode.Forbidden, 'UNAUTHENTICATED'],
  // The server restarts, or has failed.
  restart: [1012, 'restarting'],
  fault: [CloseCode.InternalServerError, 'Internal server error'],
} as const satisfies Readonly<Record<string, readonly [code: number, reason: string]>>;

export type Closing = keyof typeof CLOSINGS;
