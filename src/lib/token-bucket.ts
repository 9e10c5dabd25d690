export interface BucketRule {
  readonly perSecond: number;
  readonly burst: number;
}

/** Bounds a sender: `burst` at once, and `perSecond` in the long run. A level below 0 means that it has sent more. */
export class TokenBucket {
  #level: number;
  #atMs: number;

  constructor({ burst }: BucketRule, nowMs: number) {
    this.#level = burst;
    this.#atMs = nowMs;
  }

  /** Takes so many, and returns what is left. The debt is as large as the burst at most, or it would last for hours. */
  take({ perSecond, burst }: BucketRule, nowMs: number, points = 1): number {
    const refilled = this.#level + ((nowMs - this.#atMs) / 1_000) * perSecond;
    this.#atMs = nowMs;
    this.#level = Math.max(-burst, Math.min(burst, refilled) - points);
    return this.#level;
  }
}
