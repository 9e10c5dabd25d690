import type { Core } from '../core.ts';

const HOUR_MS = 3_600_000;
/** The server keeps a key for 24 hours; the hour between is room for clocks that differ and requests on their way. */
export const MAX_LIFE_MS: number = 23 * HOUR_MS;

/** The clocks of the server's replicas, and the dates that they tell, differ by less: the server allows for as much. */
export const ERROR_MS = 2_000;

/**
 * `fresh`: the server still has what it knows of the key. `old`: it may have forgotten it. `inDoubt`: nobody knows when it
 * was made.
 */
export type KeyAge = 'fresh' | 'old' | 'inDoubt';

export type Clocks = Pick<Core, 'environment' | 'serverClock'>;

/** When a key was first used. */
export interface KeyStamp {
  /** The time by the wall clock; null where nobody knows it. */
  readonly at: number | null;
  /** The time by the uptime of this run of the app; before its start for a key of an earlier run. */
  readonly up: number;
  /** The time by the server's clock, at the earliest; null while that has not been heard of. */
  readonly made: number | null;
  /** Whether `made` may be early by the sleep of this machine, so that no deadline follows from it. */
  readonly isEarly?: boolean;
}

export function stampNow({ environment }: Clocks): KeyStamp {
  return { at: environment.now(), up: environment.uptime(), made: null };
}

/** The stamp with the server's time: early where the machine has slept since the server's last answer, until its next one. */
export function datedStamp(stamp: KeyStamp, clocks: Clocks): KeyStamp {
  const now = clocks.serverClock.now();
  const isEarly = clocks.serverClock.isBehind;
  const isDone = stamp.made !== null && (isEarly || !stamp.isEarly);
  if (isDone || stamp.at === null || now === null) return stamp;
  return { ...stamp, made: Math.floor(now - elapsedMs(stamp, clocks)), isEarly };
}

/** The stamp of a key from an earlier run. What the clocks of this device said then may have been set since. */
export function stampStored({ environment, serverClock }: Clocks, made: number | null): KeyStamp {
  const now = serverClock.now();
  if (made === null || now === null) return { at: null, up: 0, made: null };
  const ageMs = Math.max(0, now - made);
  return { at: environment.now() - ageMs, up: environment.uptime() - ageMs, made };
}

/**
 * How old a key is; only a fresh one may be sent again, and of a fresh one alone the server knows that it was never
 * used. The server's clock decides, whatever this device's is set to. Where no answer has told it, the age is by the
 * clock of this run that says more: uptime stands still while the machine sleeps, and the clock on the wall can be set.
 */
export function ageOf(stamp: KeyStamp, clocks: Clocks): KeyAge {
  if (stamp.at === null) return 'inDoubt';
  const now = clocks.serverClock.now();
  const ageMs = stamp.made === null || now === null ? elapsedMs(stamp, clocks) : now - stamp.made;
  return ageMs < MAX_LIFE_MS ? 'fresh' : 'old';
}

/** The time that long after the key was made, by the server's clock and in ISO 8601; undefined where that is not known. */
export function momentOf({ made }: KeyStamp, laterMs: number): string | undefined {
  return made === null ? undefined : new Date(made + laterMs).toISOString();
}

/** How long ago the key was first used, by the clock of this device that says more; without end where nobody knows. */
export function elapsedMs({ at, up }: KeyStamp, { environment }: Clocks): number {
  return at === null
    ? Number.POSITIVE_INFINITY
    : Math.max(environment.now() - at, environment.uptime() - up);
}
