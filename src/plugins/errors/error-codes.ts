import { type ExecutionResult, GraphQLError } from 'graphql';
import { after } from '../../lib/eventually.ts';
import type { Log } from '../../lib/log.ts';
import { redact } from '../../lib/redact.ts';
import { withoutStack } from '../../lib/stackless-error.ts';
import {
  isGraphQLError,
  ofPlugin,
  placesOf,
  publicCause,
  reasonOf,
} from '../../schema/public-error.ts';
import type { OperationRecord } from '../operation.ts';
import { GRAPH, type GraphPlugin, type PluginContext } from '../plugin.ts';
import { type Fallback, OF_OPERATION, type Refusal } from '../refusal.ts';

/** The part of a failure that clients are told. */
type PublicCause = Pick<GraphQLError, 'message' | 'extensions'>;

interface ErrorMetrics {
  error(code: unknown, operation: unknown): void;
  refusal(limit: unknown): void;
}

/** Gives errors their codes: they are masked and counted, and the log keeps their causes. */
export class ErrorCodes {
  readonly #log: Log;
  readonly #metrics: ErrorMetrics;

  constructor(log: Log, metrics: ErrorMetrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  masked(errors: readonly GraphQLError[], record: OperationRecord): GraphQLError[] {
    const { requestId } = record;
    // One failing read surfaces at every field that needed it: it is described and logged once.
    const known = new Map<unknown, PublicCause>();
    return errors.map((error) => {
      const cause = error.originalError ?? error;
      const described = known.get(cause) ?? this.#publicCause(error, cause, requestId);
      if (!known.has(cause)) {
        this.#logCause(cause, described, requestId);
        this.#countLimit(cause, described.extensions);
      }
      known.set(cause, described);
      this.#count(described.extensions, record, cause);
      if (described === error) return error;
      const { message, extensions } = described;
      const places = { ...placesOf(error), path: error.path };
      return withoutStack(() => new GraphQLError(message, { ...places, extensions }));
    });
  }

  /**
   * The refusal that a hook means by what it throws, whichever hook and transport: a GraphQLError keeps its code, its status
   * and its headers, anything else is masked and logged. All is counted.
   */
  refusal(
    thrown: unknown,
    record: OperationRecord,
    [code, status, isWellFormed]: Fallback = OF_OPERATION,
  ): Refusal {
    const { requestId } = record;
    const masked = (fault: unknown) => {
      const { message, extensions } = this.#publicCause(asGraphQLError(fault), fault, requestId);
      this.#logCause(fault, { message, extensions }, requestId);
      return withoutStack(() => new GraphQLError(message, { extensions }));
    };
    const isList = thrown instanceof AggregateError && thrown.errors.length > 0;
    const list: readonly unknown[] = isList ? thrown.errors : [thrown];
    const https = list.map((each) => (isGraphQLError(each) ? httpOf(each) : FAULT));
    const errors = list.map((each) => (isGraphQLError(each) ? ofPlugin(each, code) : masked(each)));
    this.refused(errors, record);
    return {
      errors,
      status: Math.max(...https.map((http) => http.status ?? status)),
      headers: Object.assign({}, ...https.map(({ headers }) => headers)),
      isWellFormed,
    };
  }

  /** Logs what another plugin failed with where its operation is answered all the same. */
  pluginFailed(error: unknown): void {
    this.#log.error({ err: error }, 'a plugin failed');
  }

  /** Counts the errors of a request of which nothing is executed. */
  refused(errors: readonly GraphQLError[], record: OperationRecord): void {
    for (const error of errors) {
      this.#count(error.extensions, record, null);
      this.#countLimit(error, error.extensions);
    }
  }

  /** Counts the end of a subscription that its transport reports otherwise than by an error. */
  ended(cause: unknown, record: OperationRecord): void {
    this.#count(publicCause(cause).extensions, record, cause);
  }

  #publicCause(error: GraphQLError, cause: unknown, requestId: string): PublicCause {
    if (isPublic(error)) return error;
    // The library's own have no code: they may quote the value that a field cannot have.
    if (isGraphQLError(cause) && typeof cause.extensions.code === 'string') {
      return ofPlugin(cause, 'INTERNAL');
    }
    const { message, extensions } = publicCause(cause);
    return extensions.code === 'INTERNAL'
      ? { message, extensions: { ...extensions, requestId } }
      : { message, extensions };
  }

  #count(
    { code, operation, limit, retryable }: GraphQLError['extensions'],
    record: OperationRecord,
    cause: unknown,
  ): void {
    this.#metrics.error(code, operation);
    const reason = reasonOf(cause);
    // Anybody can ask for a key of long ago: that the records do not reach back is the answer.
    const isForgotten = code === 'IDEMPOTENCY_UNAVAILABLE' && retryable === false;
    const isRefusal = limit !== undefined || isForgotten;
    record.failed(String(code), operation !== undefined, reason, isRefusal);
  }

  #countLimit(cause: unknown, { code, limit }: GraphQLError['extensions']): void {
    if (cause instanceof Error && 'limit' in cause) this.#metrics.refusal(cause.limit);
    else if (code === 'QUERY_TOO_COMPLEX' || limit !== undefined) this.#metrics.refusal(limit);
    else if (code === 'PAYLOAD_TOO_LARGE') this.#metrics.refusal('MAX_BODY_BYTES');
  }

  /**
   * A fault here has its stack in the log. What the gateway did is in the request's own line, and in
   * the lines of its backend while that fails: in an outage a line for each field would be a storm.
   */
  #logCause(cause: unknown, { extensions }: PublicCause, requestId: string): void {
    const { code, operation } = extensions;
    if (code === 'INTERNAL') {
      this.#log.error({ requestId, code, err: cause }, 'a fault of the facade');
    } else if (this.#log.isLevelEnabled('debug') && reasonOf(cause) === null) {
      const message = cause instanceof Error ? redact(cause.message) : '';
      this.#log.debug({ requestId, code, operation, reason: message }, 'a field failed');
    }
  }
}

interface Http {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const FAULT: Http = { status: 500 };

function httpOf({ extensions: { http } }: GraphQLError): Http {
  return (http ?? {}) as Http;
}

export function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}

/** True for errors whose messages are written for clients. */
function isPublic({ originalError, extensions }: GraphQLError): boolean {
  return originalError === undefined && typeof extensions.retryable === 'boolean';
}

/** Masks the errors of what is executed here, before any other plugin sees them. */
export function useErrorCodes(codes: ErrorCodes): GraphPlugin {
  const masked = <Result>(result: Result, contextValue: PluginContext): Result => {
    const { errors } = result as ExecutionResult;
    if (errors === undefined) return result;
    const { record } = contextValue[GRAPH].operation.transport;
    return { ...result, errors: codes.masked(errors, record) };
  };
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) => after(executeFn(args), (result) => masked(result, args.contextValue)));
    },
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn(async (args) => masked(await subscribeFn(args), args.contextValue));
    },
  };
}
