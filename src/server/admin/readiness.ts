/** The state that health checks report: whether to send traffic here, and the reasons for `degraded`. */
export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  readonly #reasons = new Map<string, () => string | null>();

  serving(): void {
    this.#phase = 'serving';
  }

  draining(): void {
    this.#phase = 'draining';
  }

  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  /** `check` returns the current reason for `degraded`, or null. */
  watch(name: string, check: () => string | null): void {
    this.#reasons.set(name, check);
  }

  /** A gateway that is down makes no replica worse than the next: only starting and draining turn traffic away. */
  report(): { status: number; body: { status: string; reasons?: readonly string[] } } {
    if (this.#phase !== 'serving') return { status: 503, body: { status: this.#phase } };
    const reasons = [...this.#reasons.values()].map((check) => check()).filter((it) => it !== null);
    if (reasons.length === 0) return { status: 200, body: { status: 'ok' } };
    return { status: 200, body: { status: 'degraded', reasons } };
  }
}
