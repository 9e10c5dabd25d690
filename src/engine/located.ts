import { GraphQLError } from 'graphql';

type Places = Partial<Pick<GraphQLError, 'nodes' | 'source' | 'positions'>>;

// One mistake can have a thousand places, and each would be a line of the answer.
const MOST_LOCATIONS = 3;

/** The first places of the document that an error is about. */
export function placesOf({ nodes, source, positions }: Places): Places {
  // Nodes know source and position by themselves.
  if (nodes && nodes.length > 0) return { nodes: nodes.slice(0, MOST_LOCATIONS) };
  return { source, positions: positions?.slice(0, MOST_LOCATIONS) };
}

/** `error` as one about the places of another. */
export function located({ message, extensions }: GraphQLError, about: Places): GraphQLError {
  return new GraphQLError(message, { ...placesOf(about), extensions });
}
