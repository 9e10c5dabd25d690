import { type ExecutionResult, GraphQLError } from 'graphql';
import { TooManyAttemptsError } from '../../domain/auth/errors.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { CircuitOpenError } from '../../gateway/resilience/breakers.ts';
import type { Log } from '../../lib/log.ts';
import { redact } from '../../lib/redact.ts';
import { withoutStack } from '../../lib/without-stack.ts';
import type { Context } from '../../schema/context.ts';
import type { Code } from '../../schema/error-codes.ts';
import { describe, placesOf, publicExtensions } from '../../schema/public-error.ts';
import type { RequestSummary } from '../../schema/request-summary.ts';
import { OverLimitError } from '../limits/over-limit-error.ts';
import type { EngineMetrics } from './engine-metrics.ts';

export interface PublisherOptions {
  readonly log: Log;
  readonly metrics: EngineMetrics;
  /** True when responses report what they cost behind the facade. */
  readonly receipts: boolean;
}

/** The last step before a response is sent: errors are masked, and the log keeps their causes. */
export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  publish(result: ExecutionResult, context: Context): ExecutionResult {
    const extensions = this.extensions(context);
    if (!result.errors && extensions === null) return result;
    return {
      ...result,
      ...(result.errors && { errors: this.#errors(result.errors, context) }),
      ...(extensions && { extensions }),
    };
  }

  /** The `extensions` of a response; null where there are none. */
  extensions(context: Context): Record<string, unknown> | null {
    if (!this.#options.receipts) return null;
    const { cost, fields, waitedMs } = context;
    const paced = waitedMs > 0 ? { waitedMs: Math.round(waitedMs) } : {};
    return { gateway: receiptsOf(context), cost, fields, ...paced };
  }

  /** Counts the errors of a request of which nothing was executed. */
  refused(errors: readonly GraphQLError[], summary: RequestSummary): void {
    for (const error of errors) {
      this.#count(error.extensions, summary, null);
      this.#countLimit(error, error.extensions);
    }
  }

  /** Counts the end of a subscription that its transport reports otherwise than by an error. */
  ended(cause: unknown, { summary }: Context): void {
    this.#count(publicExtensions(describe(cause)), summary, cause);
  }

  #errors(errors: readonly GraphQLError[], context: Context): GraphQLError[] {
    const { requestId, summary } = context;
    // One failing read surfaces at every field that needed it: it is described and logged once.
    const known = new Map<unknown, PublicCause>();
    return errors.map((error) => {
      const cause = error.originalError ?? error;
      const described = known.get(cause) ?? publicCause(error, cause, requestId);
      if (!known.has(cause)) {
        this.#log(cause, described, requestId);
        this.#countLimit(cause, described.extensions);
      }
      known.set(cause, described);
      this.#count(described.extensions, summary, cause);
      if (described === error) return error;
      const { message, extensions } = described;
      const places = { ...placesOf(error), path: error.path };
      return withoutStack(() => new GraphQLError(message, { ...places, extensions }));
    });
  }

  #count(
    { code, operation, limit }: GraphQLError['extensions'],
    summary: RequestSummary | null,
    cause: unknown,
  ): void {
    this.#options.metrics.error(code, operation);
    summary?.failed(code as Code, operation !== undefined, reasonOf(cause), limit !== undefined);
  }

  #countLimit(cause: unknown, { code, limit }: GraphQLError['extensions']): void {
    const { metrics } = this.#options;
    if (cause instanceof OverLimitError || cause instanceof TooManyAttemptsError) {
      metrics.refusal(cause.limit);
    } else if (code === 'QUERY_TOO_COMPLEX' || limit !== undefined) metrics.refusal(limit);
    else if (code === 'PAYLOAD_TOO_LARGE') metrics.refusal('MAX_BODY_BYTES');
  }

  /**
   * A fault here has its stack in the log. What the gateway did is in the request's own line, and in
   * the lines of its backend while that fails: in an outage a line for each field would be a storm.
   */
  #log(cause: unknown, { extensions }: PublicCause, requestId: string): void {
    const { log } = this.#options;
    const { code, operation } = extensions;
    if (code === 'INTERNAL') {
      log.error({ requestId, code, err: cause }, 'a fault of the facade');
    } else if (log.isLevelEnabled('debug') && !isShortCircuit(cause)) {
      const message = cause instanceof Error ? redact(cause.message) : '';
      log.debug({ requestId, code, operation, reason: message }, 'a field failed');
    }
  }
}

/** Why a call of the gateway failed, where its code does not say it. */
function reasonOf(cause: unknown): string | null {
  return isShortCircuit(cause) ? 'circuit_open' : null;
}

function isShortCircuit(cause: unknown): boolean {
  return cause instanceof GatewayError && cause.cause instanceof CircuitOpenError;
}

/** The public description of a failure, the same at every field that needed the failed read. */
type PublicCause = Pick<GraphQLError, 'message' | 'extensions'>;

function publicCause(error: GraphQLError, cause: unknown, requestId: string): PublicCause {
  if (isPublic(error)) return error;
  const described = describe(cause);
  const extensions = publicExtensions(described);
  return {
    message: described.message,
    extensions: described.code === 'INTERNAL' ? { ...extensions, requestId } : extensions,
  };
}

/** True for the engine's own errors, whose messages are written for clients. */
function isPublic({ originalError, extensions }: GraphQLError): boolean {
  return originalError === undefined && typeof extensions.retryable === 'boolean';
}

function receiptsOf({ receipts }: Context) {
  return receipts.map(({ operation, ms, source }) => ({
    operation,
    ms: Math.round(ms * 10) / 10,
    source,
  }));
}
