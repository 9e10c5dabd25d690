/** The part of the service that is degraded; the only words about it that the public may read. */
export const DEGRADED_CODES = ['gateway', 'order-store', 'redis', 'memory'] as const;

type DegradedCode = (typeof DEGRADED_CODES)[number];

interface DegradedReason {
  readonly code: DegradedCode;
  readonly detail: string;
}

interface Report<Body> {
  readonly status: number;
  readonly body: Body;
}

interface PublicBody {
  readonly status: string;
  readonly reasons?: readonly DegradedCode[];
}

interface DetailedBody extends PublicBody {
  readonly details?: readonly DegradedReason[];
}

/** The state that health checks report: whether to send traffic here, and the reasons for `degraded`. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  readonly #checks: { readonly code: DegradedCode; readonly check: () => string | null }[] = [];

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

  /** `check` returns the current reason for `degraded` in words for an operator, or null. */
  watch(code: DegradedCode, check: () => string | null): void {
    this.#checks.push({ code, check });
  }

  isDegradedBy(code: DegradedCode): boolean {
    return this.#checks.some((each) => each.code === code && each.check() !== null);
  }

  /** A gateway that is down makes no replica worse than the next: only starting and draining turn traffic away. */
  report(): Report<PublicBody> {
    const { status, body } = this.detailedReport();
    const { details: _, ...rest } = body;
    return { status, body: rest };
  }

  /** For operators alone: the details name hosts and settings. */
  detailedReport(): Report<DetailedBody> {
    if (!this.isServing) return { status: 503, body: { status: this.#phase } };
    const details = this.#checks.flatMap(({ code, check }) => {
      const detail = check();
      return detail === null ? [] : [{ code, detail }];
    });
    if (details.length === 0) return { status: 200, body: { status: 'ok' } };
    const reasons = [...new Set(details.map(({ code }) => code))];
    return { status: 200, body: { status: 'degraded', reasons, details } };
  }
}
