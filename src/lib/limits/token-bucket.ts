export interface BucketRule {
  readonly max: number;
  readonly perMs: number;
  /** Bounded, because unbounded debt could last for hours. */
  readonly maxDebt: number;
}

export class TokenBucket {
  readonly rule: BucketRule;
  #level: number;
  #levelAtMs: number;

  constructor(rule: BucketRule, nowMs: number) {
    this.rule = rule;
    this.#level = rule.max;
    this.#levelAtMs = nowMs;
  }

  /** A level below 0 is debt. */
  left(nowMs: number): number {
    const earned = (nowMs - this.#levelAtMs) * this.rule.perMs;
    return Math.min(this.rule.max, this.#level + earned);
  }

  /** Takes points, and returns the new level, which is debt if there were too few. Negative points are given back. */
  take(points: number, nowMs: number): number {
    return this.set(this.left(nowMs) - points, nowMs);
  }

  set(level: number, nowMs: number): number {
    this.#level = Math.max(-this.rule.maxDebt, Math.min(this.rule.max, level));
    this.#levelAtMs = nowMs;
    return this.#level;
  }
}
