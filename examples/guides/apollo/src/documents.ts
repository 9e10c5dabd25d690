import { graphql } from './gql';

export const POSITIONS = graphql(`query Positions { positions { id symbol units profit } }`);
export const LIVE = graphql(`
  subscription Live($after: String) {
    positionChanges(after: $after, intervalMs: 500) {
      cursor snapshot upserted { id symbol units profit } ticks { id profit } closed status asOf
    }
  }
`);
