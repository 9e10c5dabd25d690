const REPEAT_MS = 60_000;

interface LoggedError {
  readonly untilMs: number;
  notLogged: number;
}

/** Decides which errors are logged: each name once a minute. */
export class RepeatedErrors {
  readonly #nowMs: () => number;
  readonly #logged = new Map<string, LoggedError>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Returns null if this error is not to be logged. If it is, returns how many errors with its name were not logged since
   * the last one that was. The set of names must be bounded.
   */
  next(name: string): { readonly notLogged: number } | null {
    const last = this.#logged.get(name);
    const nowMs = this.#nowMs();
    if (last !== undefined && nowMs < last.untilMs) {
      last.notLogged += 1;
      return null;
    }
    this.#logged.set(name, { untilMs: nowMs + REPEAT_MS, notLogged: 0 });
    return { notLogged: last?.notLogged ?? 0 };
  }
}
