import type { Clock } from '../../../lib/clock.ts';

const MINUTE_MS = 60_000;
const LINES = 10;
const MAX_KEYS = 1_000;
const OTHERS = '"address":"others"';

/**
 * Keeps a flood from filling the log: beyond a few lines in a minute the refusals of an address are one line by cause,
 * whose members `write` is handed. Says of a refusal whether it has a line of its own; `key`: the members that name its
 * address and its cause.
 */
export function summedRefusals(clock: Clock, write: (members: string) => void) {
  const counts = new Map<string, number>();

  function writeAll(): void {
    for (const [key, count] of counts) {
      if (count > LINES) write(`${key},"count":${count - LINES}`);
    }
    counts.clear();
  }

  return (key: string): boolean => {
    if (counts.size === 0) clock.after(MINUTE_MS, writeAll);
    const counted = counts.has(key) || counts.size < MAX_KEYS ? key : OTHERS;
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    return count <= LINES;
  };
}
