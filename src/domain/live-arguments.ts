import type { WatchOptions } from '../../lib/live/live-options.ts';
import {
  MAX_HEARTBEAT_SECONDS,
  MAX_INTERVAL_MS,
  MIN_HEARTBEAT_SECONDS,
} from '../../lib/live/subscription.ts';
import { InputError } from './input-error.ts';

/** Checks the times that a client requests of a live list. */
export function checkTimes({ intervalMs, heartbeatSeconds }: WatchOptions): void {
  check('intervalMs', intervalMs, 1, MAX_INTERVAL_MS);
  check('heartbeatSeconds', heartbeatSeconds, MIN_HEARTBEAT_SECONDS, MAX_HEARTBEAT_SECONDS);
}

function check(argument: string, value: number | null | undefined, least: number, most: number) {
  if (value == null || (value >= least && value <= most)) return;
  throw new InputError(argument, `${argument} must be between ${least} and ${most}.`);
}
