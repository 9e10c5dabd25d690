const REPEAT_MS = 60_000;
/** An error's details may differ in each row of a list; a few of them are enough. */
const MAX_DETAILS = 10;
const MAX_DETAIL_LENGTH = 200;

interface LoggedError {
  readonly untilMs: number;
  readonly details: Set<string>;
  notLogged: number;
}

/** Decides which errors are logged: each name once a minute, plus a few errors of that name with different details. */
export class RepeatedErrors {
  readonly #nowMs: () => number;
  readonly #logged = new Map<string, LoggedError>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Null if this error is not to be logged; otherwise how many of its name were skipped since the last one. The set of
   * names must be bounded.
   */
  next(name: string, detail = ''): { readonly notLogged: number } | null {
    const last = this.#logged.get(name);
    const short = detail.slice(0, MAX_DETAIL_LENGTH);
    const nowMs = this.#nowMs();
    if (last === undefined || nowMs >= last.untilMs) {
      const untilMs = nowMs + REPEAT_MS;
      this.#logged.set(name, { untilMs, details: new Set([short]), notLogged: 0 });
      return { notLogged: last?.notLogged ?? 0 };
    }
    if (last.details.has(short) || last.details.size >= MAX_DETAILS) {
      last.notLogged += 1;
      return null;
    }
    last.details.add(short);
    return { notLogged: 0 };
  }
}
