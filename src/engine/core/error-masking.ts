import { type ExecutionResult, GraphQLError, Kind } from 'graphql';
import { steadyClock } from '../../lib/clock.ts';
import { errorCodeOf, type PublicCause } from '../../lib/error-codes.ts';
import type { Log } from '../../lib/log.ts';
import { withoutStack } from '../../lib/public-error.ts';
import { redact } from '../../lib/redact.ts';
import { RepeatedErrors } from '../../lib/repeated-errors.ts';
import { placesOf, Refusal } from './errors.ts';
import type { RequestSummary } from './request-summary.ts';

export interface ErrorMetrics {
  error(code: unknown, operation: unknown): void;
  refusal(limit: unknown): void;
}

export interface ErrorMaskingOptions {
  readonly log: Log;
  readonly metrics: ErrorMetrics;
  /** Describes an error that a resolver threw. */
  readonly describe: (cause: unknown) => PublicCause;
}

/** Gives errors their codes, masks and counts them, and logs their causes. */
export class ErrorMasking {
  readonly #options: ErrorMaskingOptions;
  readonly #repeated = new RepeatedErrors(steadyClock.now);

  constructor(options: ErrorMaskingOptions) {
    this.#options = options;
  }

  masked(errors: readonly GraphQLError[], summary: RequestSummary): GraphQLError[] {
    // A failed read appears at every field that needed it. It is described and logged once.
    const known = new Map<unknown, PublicCause>();
    return errors.map((error) => {
      const cause = error.originalError ?? error;
      const described = known.get(cause) ?? this.#publicCause(error, cause, summary.requestId);
      if (!known.has(cause)) {
        // An error that is written for clients has no cause to log.
        if (described !== error) this.#log(cause, described, summary.requestId, error);
        this.#countLimit(cause, described.extensions);
      }
      known.set(cause, described);
      this.#count(described, summary);
      if (described === error) return error;
      const { message, extensions } = described;
      const places = { ...placesOf(error), path: error.path };
      return withoutStack(() => new GraphQLError(message, { ...places, extensions }));
    });
  }

  maskedResult<Result extends object>(result: Result, summary: RequestSummary): Result {
    const { errors } = result as ExecutionResult;
    return errors === undefined ? result : { ...result, errors: this.masked(errors, summary) };
  }

  /** Masks and counts the errors of a request that is refused, or that has failed. Marks those of a refused mutation. */
  refusal(error: unknown, summary: RequestSummary): Refusal {
    const refusal = error instanceof Refusal ? error : null;
    const errors = this.masked(errorsOf(error), summary);
    const isFault = errors.some(
      ({ extensions }) => errorCodeOf(extensions.code)?.outcome === 'fault',
    );
    // `sent: false` promises the client that nothing was sent: only until an operation is opened that is certain.
    if (refusal !== null && summary.mayBeMutation) {
      for (const { extensions } of errors) extensions.sent = false;
    }
    return new Refusal(errors, refusal === null || isFault ? { status: 500 } : refusal);
  }

  #publicCause(error: GraphQLError, cause: unknown, requestId: string): PublicCause {
    if (isPublic(error)) return error;
    // Errors of graphql-js have no code. They are masked below, because they may quote a value that a field cannot have.
    if (cause instanceof GraphQLError && typeof cause.extensions.code === 'string') {
      const { code } = cause.extensions;
      const retryable = errorCodeOf(code)?.retryable ?? false;
      return { message: cause.message, extensions: { retryable, ...cause.extensions } };
    }
    const described = this.#options.describe(cause);
    const { extensions } = described;
    return extensions.code === 'INTERNAL'
      ? { ...described, extensions: { ...extensions, requestId } }
      : described;
  }

  #count({ extensions, outcome }: PublicCause, summary: RequestSummary): void {
    const { metrics } = this.#options;
    const { code, operation, limit } = extensions;
    metrics.error(code, operation);
    const attribution = outcome ?? errorCodeOf(code)?.outcome ?? 'caller';
    // A limit of our own is not a fault.
    const isOverLimit = attribution === 'fault' && limit !== undefined;
    summary.failed(String(code), isOverLimit ? 'refused' : attribution);
  }

  #countLimit(cause: unknown, { code, limit }: GraphQLError['extensions']): void {
    const { metrics } = this.#options;
    if (cause instanceof Error && 'limit' in cause) metrics.refusal(cause.limit);
    else if (code === 'QUERY_TOO_COMPLEX' || limit !== undefined) metrics.refusal(limit);
    else if (code === 'PAYLOAD_TOO_LARGE') metrics.refusal('MAX_BODY_BYTES');
  }

  /**
   * Logs a fault with its stack, at most once a minute for each field: a field may fail in each row, or end thousands of
   * subscriptions. A failed backend call is only in the request's own line: further lines would flood the log in an outage.
   */
  #log(
    cause: unknown,
    { extensions }: PublicCause,
    requestId: string,
    error: Pick<GraphQLError, 'path' | 'nodes'>,
  ): void {
    const { log } = this.#options;
    const { code, operation } = extensions;
    if (code === 'INTERNAL') {
      const [node] = error.nodes ?? [];
      // Names of fields and errors are few. Paths are not: a client can choose any number of aliases.
      const name = node?.kind === Kind.FIELD ? node.name.value : '';
      const kind = cause instanceof Error ? cause.constructor.name : typeof cause;
      const repeats = this.#repeated.next(`${name} ${kind}`);
      if (repeats === null) return;
      const field = error.path?.filter((key) => typeof key === 'string').join('.');
      log.error({ requestId, code, field, ...repeats, err: cause }, 'a fault of the facade');
    } else if (log.isLevelEnabled('debug')) {
      const message = cause instanceof Error ? redact(cause.message) : '';
      log.debug({ requestId, code, operation, reason: message }, 'a field failed');
    }
  }
}

/** The errors for which a request is refused; otherwise the error that was thrown. */
export function errorsOf(error: unknown): readonly GraphQLError[] {
  if (error instanceof Refusal) return error.errors;
  if (error instanceof GraphQLError) return [error];
  const originalError = error instanceof Error ? error : new Error(String(error));
  return [new GraphQLError(originalError.message, { originalError })];
}

/** Whether the message of an error is written for clients. */
function isPublic({ originalError, extensions }: GraphQLError): boolean {
  return originalError === undefined && typeof extensions.retryable === 'boolean';
}
