import type { InputError } from '../input-error.ts';
import { broken } from './input-rules.ts';

/**
 * The furthest that a client's clock may be ahead. An order is sent only if its key was made, by the client's word, at most so
 * long after it: a key that was made so long after a gap has no order before it.
 */
export const KEY_AHEAD_MS = 60_000;

/** Refuses the time of a key that no clock of the service says yet. `laterMs`: by the later of ours and the gateway's. */
export function keyMadeProblem(keyMadeMs: number | null, laterMs: number): InputError | null {
  if (keyMadeMs === null || keyMadeMs - laterMs <= KEY_AHEAD_MS) return null;
  const now = new Date(laterMs).toISOString();
  return broken('input.keyMade', `must be at most 60 seconds ahead: it is ${now} here`);
}
