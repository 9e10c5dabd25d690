import { graphql } from './gql';
import { tradingGraph } from './trading-graph';

export const HOME = graphql(`
  query Home {
    session { id balance equity currency }
    positions { id symbol side units profit }
  }
`);

export const balance = async () => (await tradingGraph.query(HOME)).data?.session?.balance ?? null;
