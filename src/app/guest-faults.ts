import type { Log } from '../../lib/log.ts';

const REPEAT_MS = 60_000;

/** An error that nobody has caught: a promise's rejection, or what a timer or an event handler has thrown. */
export type FaultKind = 'rejection' | 'exception';

/** Logs the faults of extensions and plugins that nobody has caught: of each file and kind one a minute, with how many came. */
export function createFaultLog(log: Log, nowMs: () => number) {
  const told = new Map<string, { untilMs: number; since: number }>();
  return (guest: string, kind: FaultKind, error: unknown): void => {
    const name = `${kind} ${guest}`;
    const last = told.get(name);
    if (last !== undefined && nowMs() < last.untilMs) {
      last.since += 1;
      return;
    }
    told.set(name, { untilMs: nowMs() + REPEAT_MS, since: 0 });
    log.error(
      { extension: guest, kind, err: error, notLogged: last?.since ?? 0 },
      'uncaught error of an extension or a plugin',
    );
  };
}
