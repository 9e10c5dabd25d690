import { graphql } from 'relay-runtime';

export const HOME = graphql`
  query homeQuery {
    session { id balance equity currency }
    positions { id symbol units profit }
    orders { id symbol units priceOpen }
    withdrawalMethods @catch(to: RESULT) { id title status }
  }
`;
