import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Times that several processes of one machine, and a later process, can compare. */
export interface MachineClock {
  /** Names this run of the machine; only within it can uptimes be compared. */
  readonly boot: string;
  /** Nobody can set it. */
  uptimeMs(): number;
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export interface Moment {
  /** ISO 8601. */
  readonly at: string;
  readonly boot: string;
  readonly uptimeMs: number;
}

export const machineClock: MachineClock = {
  boot: readBoot(),
  uptimeMs: () => Number(process.hrtime.bigint() / 1_000_000n),
  nowMs: Date.now,
};

export function momentOf(clock: MachineClock, atMs = clock.nowMs()): Moment {
  const uptimeMs = Math.round(clock.uptimeMs());
  return { at: new Date(atMs).toISOString(), boot: clock.boot, uptimeMs };
}

/** By the machine's uptime; only over a restart of the machine by the date, which may be wrong. */
export function ageMs({ at, boot, uptimeMs }: Moment, clock: MachineClock): number {
  const age = boot === clock.boot ? clock.uptimeMs() - uptimeMs : clock.nowMs() - Date.parse(at);
  // Below 0 where somebody has set the date back.
  return Math.max(0, age);
}

function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    // Where the system has no such name, uptimes count within this process alone.
    return randomUUID();
  }
}
