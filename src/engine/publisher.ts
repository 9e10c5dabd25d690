import { type ExecutionResult, GraphQLError } from 'graphql';
import { GatewayError } from '../gateway/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Context } from '../schema/context.ts';
import { describe, placesOf, publicExtensions } from '../schema/public-error.ts';

export interface PublisherOptions {
  readonly log: Log;
  readonly metrics: Metrics;
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

  #errors(errors: readonly GraphQLError[], context: Context): GraphQLError[] {
    const { requestId } = context;
    // One failing read surfaces at every field that needed it: it is described and logged once.
    const known = new Map<unknown, PublicCause>();
    return errors.map((error) => {
      const cause = error.originalError ?? error;
      const described = known.get(cause) ?? publicCause(error, cause, requestId);
      if (!known.has(cause)) this.#log(cause, described, requestId);
      known.set(cause, described);
      this.#options.metrics.errors.inc({ code: String(described.extensions.code) });
      if (described === error) return error;
      return new GraphQLError(described.message, {
        ...placesOf(error),
        path: error.path,
        extensions: described.extensions,
      });
    });
  }

  #log(cause: unknown, { extensions }: PublicCause, requestId: string): void {
    const { log } = this.#options;
    const about = { requestId, code: extensions.code, err: cause };
    if (extensions.code === 'INTERNAL') log.error(about, 'a fault of the facade');
    else if (cause instanceof GatewayError) log.warn(about, 'the gateway failed a field');
    else log.debug(about, 'a field was refused');
  }
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
