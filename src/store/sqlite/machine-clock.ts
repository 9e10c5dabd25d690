import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CLOCKS_DIFFER_MS, datesOf } from '../order-gap.ts';

/** Times that processes on one machine, running now or later, can compare. */
export interface MachineClock {
  /** Identifies a boot of the machine, within which uptimes are comparable. */
  readonly boot: string;
  /** A monotonic time that cannot be set. */
  uptimeMs(): number;
  nowMs(): number;
  /** How far the gateway's clock is ahead; null while it was not measured. */
  skewMs(): number | null;
}

export type MachineMoment = Readonly<ReturnType<typeof machineMoment>>;

export const machineClock: MachineClock = {
  boot: readBoot(),
  uptimeMs: () => Number(process.hrtime.bigint() / 1_000_000n),
  nowMs: Date.now,
  // A command has no gateway to ask.
  skewMs: () => 0,
};

/** `atMs`: the date by its process, which may know the gateway's clock before this one does. */
export function machineMoment(clock: MachineClock, atMs?: number) {
  const { laterMs } = datesOf(clock.nowMs(), clock.skewMs());
  const date = new Date(atMs === undefined ? laterMs : Math.max(atMs, laterMs - CLOCKS_DIFFER_MS));
  return { at: date.toISOString(), boot: clock.boot, uptimeMs: Math.round(clock.uptimeMs()) };
}

/** Computed from the machine's uptime; across a reboot from the date, and 0 while that is not sure. */
export function ageMs(moment: MachineMoment, clock: MachineClock): number {
  return ageAt(moment, clock, datesOf(clock.nowMs(), clock.skewMs()).surelyMs);
}

/** The age by a date that is as good as can be had: something is said of it, and nothing ends by it. */
export function likelyAgeMs(moment: MachineMoment, clock: MachineClock): number {
  return ageAt(moment, clock, datesOf(clock.nowMs(), clock.skewMs()).earlierMs);
}

function ageAt({ at, boot, uptimeMs }: MachineMoment, clock: MachineClock, nowMs: number | null) {
  const atMs = Date.parse(at);
  const age = boot === clock.boot ? clock.uptimeMs() - uptimeMs : (nowMs ?? atMs) - atMs;
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
