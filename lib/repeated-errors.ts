const REPEAT_MS = 60_000;

/** Lets one of equal errors through in a minute, with how many were held back since; null for those. */
export function createRepeatedErrors(nowMs: () => number) {
  const told = new Map<string, { untilMs: number; since: number }>();
  return (name: string): { readonly notLogged: number } | null => {
    const last = told.get(name);
    if (last !== undefined && nowMs() < last.untilMs) {
      last.since += 1;
      return null;
    }
    told.set(name, { untilMs: nowMs() + REPEAT_MS, since: 0 });
    return { notLogged: last?.since ?? 0 };
  };
}
