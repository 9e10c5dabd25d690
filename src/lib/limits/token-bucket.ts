export interface BucketRule {
  readonly max: number;
  readonly perMs: number;
  /** Its debt has a bound, or it could last for hours. */
  readonly maxDebt: number;
}

export class TokenBucket {
  readonly rule: BucketRule;
  #level: number;
  #atMs: number;

  constructor(rule: BucketRule, nowMs: number) {
    this.rule = rule;
    this.#level = rule.max;
    this.#atMs = nowMs;
  }

  /** Below 0: what is owed. */
  left(nowMs: number): number {
    const earned = (nowMs - this.#atMs) * this.rule.perMs;
    return Math.min(this.rule.max, this.#level + earned);
  }

  /** Takes so many, below 0 to give back, and returns what is left: below 0 where there were too few. */
  take(points: number, nowMs: number): number {
    return this.set(this.left(nowMs) - points, nowMs);
  }

  set(level: number, nowMs: number): number {
    this.#level = Math.max(-this.rule.maxDebt, Math.min(this.rule.max, level));
    this.#atMs = nowMs;
    return this.#level;
  }
}
