import { clientOf, type RequestCaller } from '../../../lib/limits/caller.ts';
import { regarding } from '../../../lib/limits/client.ts';
import type { EngineLimiter } from '../../operation/limits.ts';

/** `over`: is answered that it sends too much. `far over`: has gone on after so many of these answers. */
export type Standing = 'within' | 'over' | 'far over';

/**
 * Two kinds of messages count apart from a client's others: those that pages of other sites make a browser send, and
 * upgrades, which cannot say whose they are, so that no neighbour's requests keep clients from their sockets.
 */
export type Apart = 'cross-site' | 'upgrades';

/** Counts a message of so many bytes: a large one costs more to receive. */
export type CountMessage = (
  caller: RequestCaller,
  bytes?: number,
  apart?: Apart | null,
) => Standing;

// The largest body costs as much as seventeen small ones.
export const COUNTED_BYTES = 16_384;
/** The bytes that a body in too many pieces counts as: it costs as much CPU as some hundred requests. */
export const BYTES_OF_PIECES = 256 * COUNTED_BYTES;

/** Counts all that a client sends, whatever its answer: refused requests, pings, fragments, which are no operations. */
export function messageBudget(limiter: EngineLimiter): CountMessage {
  return (caller, bytes = 0, apart = null) => {
    const points = 1 + Math.floor(bytes / COUNTED_BYTES);
    const client = apart === null ? clientOf(caller) : regarding(clientOf(caller), apart);
    const { left, max } = limiter.spend('messages', client, points);
    if (left >= 0) return 'within';
    return left > -max ? 'over' : 'far over';
  };
}
