import type { Environment } from '../environment.ts';

const HOUR_MS = 3_600_000;
/** The server keeps a key for 24 hours; the hour between is room for clocks that differ and requests on their way. */
const LONGEST_MS = 23 * HOUR_MS;
/** Clocks are corrected by seconds all the time, which the hour above bears. */
const SLACK_MS = 60_000;

/**
 * `fresh`: the server still has what it knows of the key. `old`: it may have forgotten it. `inDoubt`: the clock was
 * changed meanwhile, or the time cannot be read.
 */
export type KeyAge = 'fresh' | 'old' | 'inDoubt';

/** When a key was first used, by both clocks. */
export interface KeyStamp {
  /** By the clock on the wall; null where the stored time cannot be read. */
  readonly at: number | null;
  /** Uptime of this run of the app when the stamp was made or read, and the key's age then. */
  readonly up: number;
  readonly ageThen: number;
}

export function stampNow(environment: Environment): KeyStamp {
  return { at: environment.now(), up: environment.uptime(), ageThen: 0 };
}

/** The stamp of a key from an earlier run, whose uptime says nothing in this one. */
export function stampStored(environment: Environment, at: number | null): KeyStamp {
  const ageThen = at === null ? 0 : Math.max(0, environment.now() - at);
  return { at, up: environment.uptime(), ageThen };
}

/**
 * How old a key is; only a fresh one may be sent again.
 *
 * Uptime is never changed and never too much, since it stands still while the machine sleeps at most. The clock on
 * the wall counts sleep, and can be set. So the age is the larger of the two, and in doubt where
 * - the stamp is in the future: the clock was ahead then, or is behind now;
 * - any stored stamp, `latest`, is in the future: the clock went back after that one was made, so this one may be
 *   older than it looks;
 * - less time has passed by the wall than by uptime: the clock was set back during this run.
 *
 * A clock that is set forward makes keys look older, which is safe. Set back while the app does not run or
 * the machine sleeps, to a time after every stamp, it cannot be noticed.
 */
export function ageOf(
  { at, up, ageThen }: KeyStamp,
  environment: Environment,
  latest: number,
): KeyAge {
  if (at === null) return 'inDoubt';
  const now = environment.now();
  const { byWall, byUptime } = elapsed(at, { up, ageThen }, environment);
  if (Math.max(byWall, byUptime) >= LONGEST_MS) return 'old';
  const isSetBack = Math.max(at, latest) > now + SLACK_MS || byUptime > byWall + SLACK_MS;
  return isSetBack ? 'inDoubt' : 'fresh';
}

/** How long ago the key was first used, by the clock that says more; without end where nobody knows. */
export function elapsedMs({ at, ...stamp }: KeyStamp, environment: Environment): number {
  if (at === null) return Number.POSITIVE_INFINITY;
  const { byWall, byUptime } = elapsed(at, stamp, environment);
  return Math.max(byWall, byUptime);
}

function elapsed(at: number, { up, ageThen }: Omit<KeyStamp, 'at'>, environment: Environment) {
  return { byWall: environment.now() - at, byUptime: ageThen + environment.uptime() - up };
}
