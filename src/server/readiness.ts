/** What the health checks tell: whether to send traffic here, and what is not as it should be. */
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

  /** `check` names what is wrong just now, or null. */
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
