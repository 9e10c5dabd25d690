import { GatewayError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';

interface RestOptions {
  readonly random: () => number;
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

/**
 * How long a feed makes no further call of this kind after so many failures. Jitter is added to the gateway's
 * Retry-After, never subtracted; no wait exceeds the ceiling.
 */
export function restMs(
  failures: number,
  error: unknown,
  { random, pollMs, pollMaxMs }: RestOptions,
): number {
  const ownMs = backoffMs(failures, { baseMs: pollMs, maxMs: pollMaxMs, random });
  const retryAfterSeconds = error instanceof GatewayError ? error.retryAfterSeconds : null;
  if (retryAfterSeconds === null) return ownMs;
  return Math.min(pollMaxMs, Math.max(ownMs, retryAfterSeconds * 1000 + random() * pollMs));
}
