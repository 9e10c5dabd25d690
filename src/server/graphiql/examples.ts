/** The tabs that GraphiQL opens with: one for each use of the graph. */
export const EXAMPLES: readonly string[] = [
  `# One query for a whole screen.
query Home {
  session { balance equity currency }
  positions {
    symbol
    side
    units
    profit
    instrument { name leverage shariaStatus }
  }
  withdrawalMethods { title status }
  customerId
}
`,
  `# Search tolerates a typo; the catalog is in memory, so this makes no call.
query Search {
  instruments(first: 10, filter: { search: "aple" }) {
    totalCount
    nodes { symbol name leverage positions { units profit } }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  `# Open positions as they change. Run it and watch.
subscription Live {
  positionChanges {
    snapshot
    status
    opened
    closed
    upserted { id symbol priceCurrent profit }
    totals { count profit }
  }
}
`,
  `# Run it twice: the key makes sure that the order is sent once.
mutation Buy {
  placeOrder(
    input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "my-first-order" }
  ) {
    __typename
    ... on OrderOutcome { replayed message }
    ... on OrderAccepted { orderId positions { id symbol units } }
    ... on Refusal { error }
    ... on OrderOutcomeUnknown { sentAt }
  }
}
`,
];
