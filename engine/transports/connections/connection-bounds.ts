import { steadyClock } from '../../../lib/clock.ts';

export const MAX_BYTES = 134_217_728;

/** The bounds of connections that are the same for every installation; tests lower them. */
export const CONNECTIONS = {
  /** Sockets among them. Further ones are closed as soon as they are accepted. */
  most: 20_000,
  /** The bytes that wait for readers, and those of messages and bodies that have not arrived whole. */
  unreadBytes: MAX_BYTES,
  unfinishedBytes: MAX_BYTES,
  /** How long a reader may take no byte, and how long a response waits for its client's other readers. */
  unreadMs: 30_000,
  patienceMs: 5_000,
  /** The time within which a message has to arrive whole. */
  unfinishedMs: 30_000,
  pingMs: 12_000,
  /** How long a connection without a request stays open while the service drains. */
  lingerMs: 300,
  /** The monotonic clock of all that is here and of what a client may send in a minute. */
  clock: steadyClock,
};

export type ConnectionBounds = Partial<typeof CONNECTIONS>;
