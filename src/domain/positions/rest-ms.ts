import { GatewayError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';

interface RestOptions {
  readonly random: () => number;
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

/** How long a feed makes no further call of this kind after so many failures, whatever the gateway asks for. */
export function restMs(
  failures: number,
  error: unknown,
  { random, pollMs, pollMaxMs }: RestOptions,
): number {
  const options = { baseMs: pollMs, maxMs: pollMaxMs, random };
  const retryAfterSeconds = error instanceof GatewayError ? error.retryAfterSeconds : null;
  return Math.min(pollMaxMs, backoffMs(failures, options, retryAfterSeconds));
}
