import { InputError } from '../../lib/input-error.ts';

/** The arguments of a client's subscription. */
export interface WatchOptions {
  readonly intervalMs?: number | null | undefined;
  readonly heartbeatSeconds?: number | null | undefined;
  /** The cursor to resume from, if changes are followed. */
  readonly after?: string | null | undefined;
  /** Whether rows of which only moving fields have changed are sent as ticks. */
  readonly ticks?: boolean;
  /**
   * `positions`, the default, follows the changes of the positions; `list` gets the whole list after each change. `orders`
   * also follows the orders of op 10, and `figures` the orders and the figures of the session.
   */
  readonly follows?: 'list' | 'positions' | 'orders' | 'figures';
}

/** Checks the intervals that a client requests. */
export function checkTimes({ intervalMs, heartbeatSeconds }: WatchOptions): void {
  check('intervalMs', intervalMs, 1, 15_000);
  check('heartbeatSeconds', heartbeatSeconds, 15, 60);
}

function check(argument: string, value: number | null | undefined, least: number, most: number) {
  if (value == null || (value >= least && value <= most)) return;
  throw new InputError(argument, `${argument} must be between ${least} and ${most}.`);
}
