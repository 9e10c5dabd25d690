import type { CallOutcome } from './caller.ts';
import type { Exchange, WireCall } from './exchange.ts';
import type { Backend } from './operation.ts';
import { refusalOf, refusalWords } from './refusal.ts';

/** The newest failure of a backend, for the log and readiness. */
interface LastFailure {
  /** The outcome, or the code of the error where a connection was not made or was lost. */
  readonly cause: string;
  /** The gateway's own words for a 5xx; clients see those of a 503 only. */
  readonly gatewayError?: Readonly<Record<'error' | 'message', string | null>>;
}

const FAILURES: ReadonlySet<CallOutcome> = new Set([
  'connect',
  'reset',
  'timeout',
  '5xx',
  'contract',
]);

/** Remembers why each operation failed until it succeeds, so that a breaker that opens can name the cause. */
export class LastFailures {
  /** The newest comes last. */
  readonly #byOperation = new Map<string, LastFailure & { readonly backend: Backend }>();

  saw({ operation, row }: WireCall, outcome: CallOutcome, exchange: Exchange): void {
    const isFailure = FAILURES.has(outcome);
    if (isFailure || outcome === 'ok') this.#byOperation.delete(operation);
    if (!isFailure) return;
    const answer = exchange.sent && exchange.answered ? exchange : null;
    const code = codeOf('cause' in exchange ? exchange.cause : null);
    const words = answer && refusalWords(refusalOf(answer));
    const isLost = outcome === 'connect' || outcome === 'reset';
    this.#byOperation.set(operation, {
      backend: row.backend,
      cause: (isLost && code) || outcome,
      ...(words !== null && { gatewayError: words }),
    });
  }

  /** Orders are held back for their own losses, or for those of reads. */
  of(backend: Backend): LastFailure | undefined {
    const newest =
      this.#newestOf(backend) ?? (backend === 'orders' ? this.#newestOf('reads') : undefined);
    if (newest === undefined) return undefined;
    const { backend: _, ...failure } = newest;
    return failure;
  }

  #newestOf(backend: Backend) {
    return [...this.#byOperation.values()].findLast((failure) => failure.backend === backend);
  }
}

/** Errors have a cause or two; a chain of causes may be a circle. */
const MAX_CAUSES = 4;

/** The code of the innermost error that has one. */
function codeOf(cause: unknown): string | null {
  let code: string | null = null;
  let error = cause;
  for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1) {
    if ('code' in error && typeof error.code === 'string') code = error.code;
    error = error.cause;
  }
  return code;
}
