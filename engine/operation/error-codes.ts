import { type ExecutionResult, GraphQLError, Kind } from 'graphql';
import { steadyClock } from '../../lib/clock.ts';
import type { CodeTraits, PublicCause } from '../../lib/error-traits.ts';
import { extensionAtFault } from '../../lib/extension-code.ts';
import type { Log } from '../../lib/log.ts';
import { isPlainJson } from '../../lib/plain-json.ts';
import { redact } from '../../lib/redact.ts';
import { createRepeatedErrors } from '../../lib/repeated-errors.ts';
import { withoutStack } from '../../lib/stackless-error.ts';
import type { RequestCode } from './codes.ts';
import { type Fallback, OF_OPERATION, type Refusal } from './refusal.ts';
import { isGraphQLError, placesOf } from './request-error.ts';
import type { RequestSummary } from './request-summary.ts';

interface ErrorMetrics {
  error(code: unknown, operation: unknown): void;
  refusal(limit: unknown): void;
}

export interface ErrorCodesOptions {
  readonly log: Log;
  readonly metrics: ErrorMetrics;
  readonly traits: Readonly<Record<string, CodeTraits>>;
  /** Describes what a resolver threw. */
  readonly describe: (cause: unknown) => PublicCause;
}

export type ErrorCodes = ReturnType<typeof createErrorCodes>;

/** Gives errors their codes: they are masked and counted, and the log keeps their causes. */
export function createErrorCodes({ log, metrics, traits, describe }: ErrorCodesOptions) {
  const repeated = createRepeatedErrors(steadyClock.now);

  /** True for the code of an error of which neither the client nor the user is the cause. */
  function isFault(code: unknown): boolean {
    return typeof code === 'string' && traits[code]?.outcome === 'fault';
  }

  function masked(errors: readonly GraphQLError[], record: RequestSummary): GraphQLError[] {
    const { requestId } = record;
    // One failing read surfaces at every field that needed it: it is described and logged once.
    const known = new Map<unknown, PublicCause>();
    const maskedError = (error: GraphQLError) => {
      const cause = error.originalError ?? error;
      const described = known.get(cause) ?? publicCause(error, cause, requestId);
      if (!known.has(cause)) {
        logCause(cause, described, requestId, error);
        countLimit(cause, described.extensions);
      }
      known.set(cause, described);
      const { message, extensions } = described;
      const places = { ...placesOf(error), path: error.path };
      const isFault = extensions.code === 'INTERNAL';
      count(described, record, isFault ? fieldAtFault(cause, error) : null);
      if (described === error) return error;
      return withoutStack(() => new GraphQLError(message, { ...places, extensions }));
    };
    return errors.map((error) => {
      try {
        return maskedError(error);
      } catch {
        // The others, and the data, are answered.
        const originalError = new TypeError('an error that cannot be read');
        const path = read(() => error.path);
        return maskedError(new GraphQLError(originalError.message, { path, originalError }));
      }
    });
  }

  /** The result, or the events in its place, with masked errors. */
  function maskedResult<Result extends object>(result: Result, record: RequestSummary): Result {
    const { errors } = result as ExecutionResult;
    return errors === undefined ? result : { ...result, errors: masked(errors, record) };
  }

  /**
   * The refusal that a hook means by what it throws, whichever hook and transport: a GraphQLError keeps its code, its status
   * and its headers, anything else is masked and logged. All is counted.
   */
  function refusal(
    thrown: unknown,
    record: RequestSummary,
    [code, status, isWellFormed]: Fallback = OF_OPERATION,
  ): Refusal {
    const { requestId } = record;
    const masked = (fault: unknown) => {
      const described = publicCause(asGraphQLError(fault), fault, requestId);
      logCause(fault, described, requestId);
      const { message, extensions } = described;
      return withoutStack(() => new GraphQLError(message, { extensions }));
    };
    const isList = thrown instanceof AggregateError && thrown.errors.length > 0;
    const list: readonly unknown[] = isList ? thrown.errors : [thrown];
    const https = list.map((each) => (isGraphQLError(each) ? httpOf(each) : FAULT));
    const errors = list.map((each) =>
      isGraphQLError(each) && isPlainJson(each.extensions) ? ofPlugin(each, code) : masked(each),
    );
    refused(errors, record);
    return {
      kind: 'refusal',
      errors,
      status: Math.max(...https.map((http) => http.status ?? status)),
      headers: Object.assign({}, ...https.map(({ headers }) => headers)),
      isWellFormed,
    };
  }

  /** Logs what another plugin failed with where its operation is answered all the same. */
  function pluginFailed(error: unknown): void {
    log.error({ err: error }, 'a plugin failed');
  }

  /** Counts the errors of a request of which nothing is executed. */
  function refused(errors: readonly GraphQLError[], record: RequestSummary): void {
    for (const error of errors) {
      count(error, record);
      countLimit(error, error.extensions);
    }
  }

  function publicCause(error: GraphQLError, cause: unknown, requestId: string): PublicCause {
    if (isPublic(error)) return error;
    // The library's own have no code: they may quote the value that a field cannot have.
    if (isGraphQLError(cause) && typeof cause.extensions.code === 'string') {
      if (isPlainJson(cause.extensions)) return ofPlugin(cause, 'INTERNAL');
      return publicCause(
        error,
        new TypeError('details that JSON cannot carry', { cause }),
        requestId,
      );
    }
    const described = describe(cause);
    const { extensions } = described;
    return extensions.code === 'INTERNAL'
      ? { ...described, extensions: { ...extensions, requestId } }
      : described;
  }

  /** An error of another author's as clients are shown it: without what is for HTTP, with our code where it has none. */
  function ofPlugin(error: GraphQLError, fallback: RequestCode): GraphQLError {
    const { http, ...given } = error.extensions;
    if (typeof given.retryable === 'boolean' && http === undefined) return error;
    const code = isCode(given.code) ? given.code : fallback;
    const retryable = given.retryable ?? traits[code]?.retryable ?? false;
    const extensions = { ...given, code, retryable };
    const isFault = !(code in traits) && Number((http as Http)?.status) >= 500;
    const Shown = isFault ? ServerFault : GraphQLError;
    return new Shown(error.message, { ...placesOf(error), path: error.path, extensions });
  }

  /** `field`: that of an extension whose fault it is. */
  function count(
    { extensions, outcome, reason = null }: PublicCause,
    record: RequestSummary,
    field: string | null = null,
  ): void {
    const { code, operation, limit } = extensions;
    metrics.error(code, operation ?? field);
    const attributed = outcome ?? traits[String(code)]?.outcome ?? 'caller';
    // An account that is over a limit here is no fault.
    const isOverLimit = attributed === 'fault' && limit !== undefined;
    record.failed(String(code), isOverLimit ? 'refused' : attributed, reason);
  }

  function countLimit(cause: unknown, { code, limit }: GraphQLError['extensions']): void {
    if (cause instanceof Error && 'limit' in cause) metrics.refusal(cause.limit);
    else if (code === 'QUERY_TOO_COMPLEX' || limit !== undefined) metrics.refusal(limit);
    else if (code === 'PAYLOAD_TOO_LARGE') metrics.refusal('MAX_BODY_BYTES');
  }

  /**
   * A fault here has its stack in the log, that of a field or of a list that is followed once a minute: it may fail in each
   * row, or end thousands of subscriptions. What a backend did is in the request's own line, and in the backend's own while
   * it fails: in an outage a line for each field would be a storm.
   */
  function logCause(
    cause: unknown,
    { extensions, reason, fault }: PublicCause,
    requestId: string,
    of?: Pick<GraphQLError, 'path' | 'nodes'>,
  ): void {
    const { code, operation } = extensions;
    if (code === 'INTERNAL' || fault !== undefined) {
      const err = fault ?? cause;
      const [node] = of?.nodes ?? [];
      // The path has a client's aliases, which are of any number.
      const name = node?.kind === Kind.FIELD ? node.name.value : '';
      const message = read(() => String((err as Error).message));
      const told = of === undefined ? {} : repeated(name, message);
      if (told === null) return;
      const field = of?.path?.filter((key) => typeof key === 'string').join('.');
      const extension = read(() => extensionAtFault(err));
      const whose = extension === undefined ? 'the facade' : 'an extension';
      const fields = { requestId, code, operation, field, extension, ...told, err };
      log.error(fields, `a fault of ${whose}`);
    } else if (log.isLevelEnabled('debug') && reason == null) {
      const message = cause instanceof Error ? redact(cause.message) : '';
      log.debug({ requestId, code, operation, reason: message }, 'a field failed');
    }
  }

  return { isFault, masked, maskedResult, refusal, pluginFailed, refused };
}

/** Names the field of an extension whose fault an error is; null where it is nobody's, or no field's. */
function fieldAtFault(fault: unknown, { nodes }: GraphQLError): string | null {
  const extension = read(() => extensionAtFault(fault));
  const [node] = nodes ?? [];
  return extension && node?.kind === Kind.FIELD ? `${extension}.${node.name.value}` : null;
}

/** An error of a code that nobody has registered, whose status says that the caller is not its cause. */
class ServerFault extends GraphQLError {
  readonly outcome = 'fault';
}

// A code stands in the log and in metrics.
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

function isCode(code: unknown): code is string {
  // Yoga's own for whatever is wrong with a request says less than the fallback.
  return typeof code === 'string' && CODE.test(code) && code !== 'BAD_REQUEST';
}

interface Http {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const FAULT: Http = { status: 500 };

function httpOf({ extensions: { http } }: GraphQLError): Http {
  return (http ?? {}) as Http;
}

/** An author's error has getters, which may throw. */
function read<Value>(get: () => Value): Value | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
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
