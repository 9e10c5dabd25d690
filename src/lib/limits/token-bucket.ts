/** A token bucket. Its debt has a bound, or it could last for hours. */
export class TokenBucket {
  readonly most: number;
  readonly perMs: number;
  readonly #owed: number;
  #level: number;
  #atMs: number;

  constructor(most: number, perMs: number, nowMs: number, owed = most) {
    this.most = most;
    this.perMs = perMs;
    this.#owed = owed;
    this.#level = most;
    this.#atMs = nowMs;
  }

  /** Takes so many, below 0 to give back, and returns what is left: below 0 where there were too few. */
  take(points: number, nowMs: number): number {
    const earned = (nowMs - this.#atMs) * this.perMs;
    return this.set(Math.min(this.most, this.#level + earned) - points, nowMs);
  }

  set(level: number, nowMs: number): number {
    this.#level = Math.max(-this.#owed, Math.min(this.most, level));
    this.#atMs = nowMs;
    return this.#level;
  }
}
