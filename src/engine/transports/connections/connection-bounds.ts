import { steadyClock } from '../../../lib/clock.ts';

export const MAX_BYTES = 134_217_728;

/** The bounds of connections that are the same for every installation; tests lower them. */
export const CONNECTIONS = {
  /** WebSockets among them. Node closes further ones as soon as they are accepted. */
  most: 20_000,
  /** The bytes of all connections that are not read, or that have not arrived whole. */
  heldBytes: MAX_BYTES,
  /** The unread bytes of a WebSocket beyond which its operations and events wait, and nothing is read from it. */
  unreadBytes: 262_144,
  /** How long unread bytes may stay where they are. */
  unreadMs: 30_000,
  pingMs: 12_000,
  /** How long a connection without a request stays open while the service drains. */
  lingerMs: 300,
  /** The monotonic clock of what a client may send in a minute. */
  clock: steadyClock,
};

export type ConnectionBounds = Partial<typeof CONNECTIONS>;
