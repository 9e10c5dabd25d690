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
  /** By the uptime of this run of the app; before its start for a key of an earlier run. */
  readonly up: number;
}

export function stampNow(environment: Environment): KeyStamp {
  return { at: environment.now(), up: environment.uptime() };
}

/** The stamp of a key from an earlier run, whose uptime says nothing in this one. */
export function stampStored(environment: Environment, at: number | null): KeyStamp {
  const ageThen = at === null ? 0 : Math.max(0, environment.now() - at);
  return { at, up: environment.uptime() - ageThen };
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
export function ageOf({ at, up }: KeyStamp, environment: Environment, latest: number): KeyAge {
  if (at === null) return 'inDoubt';
  if (elapsedMs({ at, up }, environment) >= LONGEST_MS) return 'old';
  const now = environment.now() + SLACK_MS;
  const isSetBack = Math.max(at, latest) > now || environment.uptime() - up > now - at;
  return isSetBack ? 'inDoubt' : 'fresh';
}

/** How long ago the key was first used, by the clock that says more; without end where nobody knows. */
export function elapsedMs({ at, up }: KeyStamp, environment: Environment): number {
  return at === null
    ? Number.POSITIVE_INFINITY
    : Math.max(environment.now() - at, environment.uptime() - up);
}
