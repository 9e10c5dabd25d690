import { systemClock } from '../lib/clock.ts';
import type { Answer } from './exchange.ts';

/** When a read was sent and answered. Of two answers, the one with the later logical time is newer. */
export interface ReadTimes {
  readonly logicalTime: number;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

export function timesOf({ logicalTime, sentAtMs }: Answer): ReadTimes {
  return { logicalTime, sentAtMs, receivedAtMs: systemClock.now() };
}
