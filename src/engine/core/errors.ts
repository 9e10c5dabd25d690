import { GraphQLError } from 'graphql';
import { type Code, ERROR_CODES } from '../../lib/error-codes.ts';
import { StacklessError, withoutStack } from '../../lib/public-error.ts';
import type { LimitLabel } from './limits.ts';

// One mistake can have a thousand locations, which would all be in the response.
const MAX_LOCATIONS = 3;

type Places = Partial<Pick<GraphQLError, 'nodes' | 'source' | 'positions'>>;

/** An error about the whole request, before any field is executed. */
export function requestError(
  code: Code,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
): GraphQLError {
  const { retryable } = ERROR_CODES[code];
  return withoutStack(
    () => new GraphQLError(message, { extensions: { code, retryable, ...more } }),
  );
}

/** The first locations of an error in the document. */
export function placesOf({ nodes, source, positions }: Places): Places {
  // Nodes contain their locations.
  if (nodes && nodes.length > 0) return { nodes: nodes.slice(0, MAX_LOCATIONS) };
  return { source, positions: positions?.slice(0, MAX_LOCATIONS) };
}

/** The error with the locations of `about`, but without its nodes, which would keep a refused document in memory. */
export function located({ message, extensions }: GraphQLError, about: Places): GraphQLError {
  return withoutStack(() => {
    const { source, positions } = new GraphQLError(message, placesOf(about));
    return new GraphQLError(message, { source, positions, extensions });
  });
}

/** The limit of a root field that an operation may select a limited number of times. */
type FieldLimit = `${string} fields`;

export function tooComplex(
  limit: LimitLabel | FieldLimit,
  value: number,
  maximum: number,
): GraphQLError {
  const shown = Math.min(value, Number.MAX_SAFE_INTEGER);
  const message = `The limit of ${limit} is ${maximum}, and the request has ${shown}.`;
  return requestError('QUERY_TOO_COMPLEX', message, { limit, value: shown, maximum });
}

interface RefusalOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the request conforms to the protocol, so that only its document or its variables are wrong. */
  readonly isWellFormed?: boolean;
}

/** Thrown if nothing of a request is executed, because it is wrong or its client is over a limit. */
export class Refusal extends StacklessError {
  readonly errors: readonly GraphQLError[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly isWellFormed: boolean;

  constructor(
    errors: readonly GraphQLError[],
    { status = 400, headers = {}, isWellFormed = true }: RefusalOptions = {},
  ) {
    super(errors[0]?.message ?? '');
    this.errors = errors;
    this.status = status;
    this.headers = headers;
    this.isWellFormed = isWellFormed;
  }
}

/** Refuses the whole request for one reason. */
export function refusal(code: Code, message: string, options?: RefusalOptions): Refusal {
  return new Refusal([requestError(code, message)], options);
}

// The time in which messages are refilled, and some of the client's connections and operations are likely to end.
const RETRY_SECONDS = 10;

/** Refuses the whole request by a limit of this service, with the seconds after which to retry. */
export function overLimit(limit: LimitLabel, retryAfter = RETRY_SECONDS): Refusal {
  const error = requestError('RATE_LIMITED', 'Too many requests: wait a moment.', { retryAfter });
  const headers = { 'retry-after': String(retryAfter) };
  // The name of the limit is for the metrics, and not part of the answer.
  return new Refusal([Object.assign(error, { limit })], { status: 429, headers });
}
