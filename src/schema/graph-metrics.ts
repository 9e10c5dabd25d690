import { CODES_OF_CALLS } from '../gateway/gateway-error.ts';
import { OPERATION_NAMES } from '../gateway/operations.ts';
import { ERROR_CODES } from '../lib/error-codes.ts';
import type { MetricsRegistry } from '../lib/metrics-registry.ts';

export class GraphMetrics {
  readonly #errors;
  readonly #refusals;
  readonly #limits: readonly string[];

  /** `limits`: the names of the limits whose refusals are counted. */
  constructor(registry: MetricsRegistry, limits: readonly string[]) {
    this.#limits = limits;
    this.#errors = registry.counter(
      'errors_total',
      'Errors in answers, by code and failed gateway call; none: no call.',
      { code: [...Object.keys(ERROR_CODES), 'other'], operation: ['none'] },
    );
    for (const code of CODES_OF_CALLS) {
      for (const operation of OPERATION_NAMES) this.#errors.inc({ code, operation }, 0);
    }
    this.#refusals = registry.counter(
      'refusals_total',
      'Requests, fields and sockets that exceeded a limit of the service.',
      { limit: limits },
    );
  }

  /** Plugins may add errors with any code and operation. */
  error(code: unknown, operation: unknown): void {
    const known = Object.keys(ERROR_CODES).find((name) => name === code) ?? 'other';
    const call = OPERATION_NAMES.find((name) => name === operation);
    const isOfCall = call !== undefined && (CODES_OF_CALLS as ReadonlySet<string>).has(known);
    this.#errors.inc({ code: known, operation: isOfCall ? call : 'none' });
  }

  refusal(limit: unknown): void {
    this.#refusals.inc({ limit: this.#limits.find((name) => name === limit) ?? 'other' });
  }
}
