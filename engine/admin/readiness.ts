/** The part of the service that is degraded; the only words about it that the public may read. */
export const DEGRADED_CODES = ['gateway', 'order-store', 'redis', 'memory'] as const;

type DegradedCode = (typeof DEGRADED_CODES)[number];

/** By its part, the current reason for `degraded` in words for an operator, or null. */
type Checks = Readonly<Record<DegradedCode, () => string | null>>;

/** The state that health checks report: whether to send traffic here, and the reasons for `degraded`. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  readonly #checks: Checks;

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  serving(): void {
    this.#phase = 'serving';
  }

  draining(): void {
    this.#phase = 'draining';
  }

  get isServing(): boolean {
    return this.#phase === 'serving';
  }

  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  isDegradedBy(code: DegradedCode): boolean {
    return this.#checks[code]() !== null;
  }

  /**
   * A gateway that is down makes no replica worse than the next: only starting and draining turn traffic away. The
   * details are for operators alone: they name hosts and settings.
   */
  report() {
    if (!this.isServing) return { status: 503, body: { status: this.#phase } };
    const details = Object.entries(this.#checks).flatMap(([code, check]) => {
      const detail = check();
      return detail === null ? [] : [{ code, detail }];
    });
    if (details.length === 0) return { status: 200, body: { status: 'ok' } };
    const reasons = details.map(({ code }) => code);
    return { status: 200, body: { status: 'degraded', reasons, details } };
  }
}
