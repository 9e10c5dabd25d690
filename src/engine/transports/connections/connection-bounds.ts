import { steadyClock } from '../../../lib/clock.ts';

export const MAX_BYTES = 134_217_728;

/** The bounds of connections that are the same for every installation; tests lower them. */
export const CONNECTIONS = {
  /** The maximum of open connections, WebSockets included. Node closes further ones as soon as they are accepted. */
  most: 20_000,
  /** The limit of all connections' unread bytes and unfinished requests and messages together. */
  heldBytes: MAX_BYTES,
  /** Above this number of unread bytes a WebSocket's operations and events wait, and nothing is read from it. */
  unreadBytes: 262_144,
  /** How long unread bytes may stay without moving. */
  unreadMs: 30_000,
  /** The interval of the pings that keep a quiet socket or event stream open. */
  pingMs: 12_000,
  /** The monotonic clock, which tests replace. */
  clock: steadyClock,
};

export type ConnectionBounds = Partial<typeof CONNECTIONS>;
