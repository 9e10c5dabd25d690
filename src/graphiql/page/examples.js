/**
 * The tabs that GraphiQL opens with: one for each use of the graph.
 *
 * @type {readonly import('./examples.d.ts').Example[]}
 */
export const EXAMPLES = [
  {
    query: `# One query for a whole screen.
query Home {
  session { id balance equity currency }
  positions {
    id
    symbol
    side
    units
    profit
    instrument { id name leverage shariaStatus }
  }
  withdrawalMethods { id title status }
  customerId
}
`,
  },
  {
    query: `# Search tolerates a typo. The catalog is in memory,
# so this calls the gateway for positions alone.
query Search($text: String!) {
  instruments(first: 10, filter: { search: $text }) {
    totalCount
    nodes { id symbol name leverage positions { id units profit } }
  }
}
`,
    variables: { text: 'aple' },
  },
  {
    query: `# The next page: put endCursor into the variable
# "after". It survives a refresh of the catalog.
query Page($first: Int!, $after: String) {
  instruments(first: $first, after: $after, orderBy: { by: SYMBOL }) {
    totalCount
    nodes { id symbol name }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    variables: { first: 5, after: null },
  },
  {
    query: `# A phone keeps the catalog and asks what changed.
# The first answer is everything (reset: true). Put
# its version into "since": the next one is empty.
query Sync($since: String!) {
  catalog {
    id
    version
    ageSeconds
    stale
    changes(since: $since) { reset upserted { id name } removed }
  }
}
`,
    variables: { since: '' },
  },
  {
    query: `# The whole account as it changes: press stop to end it.
# After a lost connection, resume with the last cursor. If
# you leave out orders and session, only positions are read.
subscription Account($after: String) {
  accountChanges(after: $after) {
    snapshot
    status
    asOf
    totals { count profit }
    positions {
      upserted { id symbol priceCurrent profit }
      opened
      closed
    }
    orders { upserted { id symbol priceOpen } closed fetchedAt }
    session { id balance equity fetchedAt }
    cursor
  }
}
`,
  },
  {
    query: `# The key of one order. Put another one into the
# variable "key" of the next tabs for another order.
mutation Key {
  newOrderKey
}
`,
  },
  {
    isForSandbox: true,
    query: `# Run it twice: an order is sent once for each key.
# The repeat answers the same, and replayed: true.
mutation Buy($key: String!) {
  placeOrder(
    input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: $key }
  ) {
    __typename
    ... on OrderOutcome { replayed message }
    ... on OrderAccepted { orderId positions { id symbol units } }
    ... on Refusal { error }
    ... on OrderOutcomeUnknown { sentAt }
  }
}
`,
    variables: { key: 'bought' },
  },
  {
    isForSandbox: true,
    query: `# Closes a key: an order that arrives with it later is
# not sent. Try to place one with it afterwards.
mutation Void($key: String!) {
  voidOrder(idempotencyKey: $key) {
    __typename
    ... on OrderOutcome { replayed message }
    ... on OrderAccepted { orderId }
    ... on OrderRejected { error sent }
  }
}
`,
    variables: { key: 'closed' },
  },
  {
    query: `# The outcome of the order with this key, for an app
# that has crashed, say. This sends no order.
query Outcome($key: String!) {
  placedOrder(idempotencyKey: $key) {
    __typename
    ... on OrderOutcome { replayed message }
    ... on OrderAccepted { orderId }
    ... on Refusal { error }
    ... on OrderOutcomeUnknown { sentAt }
  }
}
`,
    variables: { key: 'bought' },
  },
  {
    query: `# One field fails, the others are answered. Each
# error has a code, and says whether to retry.
query Errors {
  customerId
  tooMany: instruments(first: 501) { totalCount }
  session { id balance }
}
`,
  },
  {
    isForSandbox: true,
    query: `# A refused order is an outcome, not an error.
# Try TEST.UNKNOWN and TEST.SLOW, with other keys.
mutation Refused($key: String!) {
  placeOrder(
    input: { symbol: "TEST.REJECT", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: $key }
  ) {
    __typename
    ... on OrderOutcome { replayed message }
    ... on Refusal { error }
  }
}
`,
    variables: { key: 'refused' },
  },
];

/** Mutation fields that trade, or change a payout or a password. The page asks before it sends one to a real gateway. */
export const CONFIRMED_FIELDS = [
  'placeOrder',
  'placeLimitOrder',
  'addCryptoWallet',
  'addMobileWallet',
  'resetTradingAccountPassword',
  'forgotPassword',
];
