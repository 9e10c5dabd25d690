const REPEAT_MS = 60_000;
/** Errors may differ in each row of a list; a few of them tell enough. */
const MAX_DETAILS = 10;
const MAX_DETAIL_LENGTH = 200;

/**
 * Logs each error once a minute: returns how many of its name were not logged since, or null where this one is not logged. Names are
 * of a bounded number; of each name a few errors are logged that differ in their details.
 */
export function createRepeatedErrors(nowMs: () => number) {
  const told = new Map<string, { untilMs: number; since: number; details: Set<string> }>();
  return (name: string, detail = ''): { readonly notLogged: number } | null => {
    const last = told.get(name);
    const short = detail.slice(0, MAX_DETAIL_LENGTH);
    if (last === undefined || nowMs() >= last.untilMs) {
      told.set(name, { untilMs: nowMs() + REPEAT_MS, since: 0, details: new Set([short]) });
      return { notLogged: last?.since ?? 0 };
    }
    if (last.details.has(short) || last.details.size >= MAX_DETAILS) {
      last.since += 1;
      return null;
    }
    last.details.add(short);
    return { notLogged: 0 };
  };
}
