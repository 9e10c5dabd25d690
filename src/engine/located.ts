import { GraphQLError } from 'graphql';

type Places = Partial<Pick<GraphQLError, 'nodes' | 'source' | 'positions'>>;

// One mistake can have a thousand locations, each of which would be a line of the response.
const MOST_LOCATIONS = 3;

/** The first locations in the document that an error is about. */
export function placesOf({ nodes, source, positions }: Places): Places {
  // Nodes carry their source and position.
  if (nodes && nodes.length > 0) return { nodes: nodes.slice(0, MOST_LOCATIONS) };
  return { source, positions: positions?.slice(0, MOST_LOCATIONS) };
}

/** Gives `error` the locations of another. */
export function located({ message, extensions }: GraphQLError, about: Places): GraphQLError {
  return new GraphQLError(message, { ...placesOf(about), extensions });
}
