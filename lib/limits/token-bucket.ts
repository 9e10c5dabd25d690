export interface BucketRule {
  readonly most: number;
  readonly perMs: number;
  /** Its debt has a bound, or it could last for hours. */
  readonly owed: number;
}

export class TokenBucket {
  readonly rule: BucketRule;
  #level: number;
  #atMs: number;

  constructor(rule: BucketRule, nowMs: number) {
    this.rule = rule;
    this.#level = rule.most;
    this.#atMs = nowMs;
  }

  /** Below 0: what is owed. */
  left(nowMs: number): number {
    const earned = (nowMs - this.#atMs) * this.rule.perMs;
    return Math.min(this.rule.most, this.#level + earned);
  }

  /** Takes so many, below 0 to give back, and returns what is left: below 0 where there were too few. */
  take(points: number, nowMs: number): number {
    return this.set(this.left(nowMs) - points, nowMs);
  }

  set(level: number, nowMs: number): number {
    this.#level = Math.max(-this.rule.owed, Math.min(this.rule.most, level));
    this.#atMs = nowMs;
    return this.#level;
  }
}
