/** A check for each reason code. It returns the detail if degraded; otherwise null. The public sees the codes alone. */
type Checks = Readonly<Record<string, () => string | null>>;

/** The state that health checks report: whether to send traffic here, and the reasons for `degraded`. */
export class Readiness {
  phase: 'starting' | 'serving' | 'draining' = 'starting';
  readonly #checks: Checks;

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  /** Whether each part is degraded, by its code. */
  get parts(): [code: string, isDegraded: () => boolean][] {
    return Object.entries(this.#checks).map(([code, check]) => [code, () => check() !== null]);
  }

  /** Degraded replicas keep their traffic: a failing backend affects all. Details name hosts, so only operators see them. */
  report() {
    if (this.phase !== 'serving') return { status: 503, body: { status: this.phase } };
    const details = Object.entries(this.#checks).flatMap(([code, check]) => {
      const detail = check();
      return detail === null ? [] : [{ code, detail }];
    });
    if (details.length === 0) return { status: 200, body: { status: 'ok' } };
    const reasons = details.map(({ code }) => code);
    return { status: 200, body: { status: 'degraded', reasons, details } };
  }
}
