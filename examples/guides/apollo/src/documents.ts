import { graphql } from './gql';

export const POSITIONS = graphql(`query Positions { positions { id symbol units profit } }`);
export const LIVE = graphql(`
  subscription Live($after: String) {
    positionChanges(after: $after, intervalMs: 500) {
      cursor snapshot upserted { id symbol units profit } ticks { id profit } closed status asOf
    }
  }
`);
export const PLACE = graphql(`
  mutation Place($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      __typename
      ... on OrderOutcome { idempotencyKey message replayed }
      ... on OrderAccepted { orderId positions { id symbol units profit } }
      ... on OrderRejected { error sent }
      ... on OrderOutcomeUnknown { sentAt }
    }
  }
`);
