import { GraphQLError } from 'graphql';
import { withoutStack } from '../../lib/stackless-error.ts';
import { REQUEST_CODES, type RequestCode } from './codes.ts';

// One mistake can have a thousand locations, each of which would be a line of the response.
const MAX_LOCATIONS = 3;

type Places = Partial<Pick<GraphQLError, 'nodes' | 'source' | 'positions'>>;

/** An error about the request as a whole, before any field was executed. */
export function requestError(
  code: RequestCode,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
): GraphQLError {
  const { retryable } = REQUEST_CODES[code];
  return withoutStack(
    () => new GraphQLError(message, { extensions: { code, retryable, ...more } }),
  );
}

/** The first locations in the document that an error is about. */
export function placesOf({ nodes, source, positions }: Places): Places {
  // Nodes have theirs themselves.
  if (nodes && nodes.length > 0) return { nodes: nodes.slice(0, MAX_LOCATIONS) };
  return { source, positions: positions?.slice(0, MAX_LOCATIONS) };
}

/** Gives `error` the locations of another, without its nodes: they would keep a document that is refused. */
export function located({ message, extensions }: GraphQLError, about: Places): GraphQLError {
  return withoutStack(() => {
    const { source, positions } = new GraphQLError(message, placesOf(about));
    return new GraphQLError(message, { source, positions, extensions });
  });
}
