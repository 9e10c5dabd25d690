import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Times that processes on one machine, running now or later, can compare. */
export interface MachineClock {
  /** Identifies a boot of the machine, within which uptimes are comparable. */
  readonly boot: string;
  /** A monotonic time that cannot be set. */
  uptimeMs(): number;
  nowMs(): number;
}

export type MachineMoment = Readonly<ReturnType<typeof machineMoment>>;

export const machineClock: MachineClock = {
  boot: readBoot(),
  uptimeMs: () => Number(process.hrtime.bigint() / 1_000_000n),
  nowMs: Date.now,
};

export function machineMoment(clock: MachineClock, atMs = clock.nowMs()) {
  const uptimeMs = Math.round(clock.uptimeMs());
  return { at: new Date(atMs).toISOString(), boot: clock.boot, uptimeMs };
}

/** Computed from the machine's uptime; across a reboot from the date, which may be wrong. */
export function ageMs({ at, boot, uptimeMs }: MachineMoment, clock: MachineClock): number {
  const age = boot === clock.boot ? clock.uptimeMs() - uptimeMs : clock.nowMs() - Date.parse(at);
  // The difference is below 0 where the date was set back.
  return Math.max(0, age);
}

function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    // Uptimes are comparable within this process only where there is no boot id.
    return randomUUID();
  }
}
