const INSTRUMENT_FIELDS =
  'id symbol name description access calc delayed digits industry leverage limit logo mCurrency mFx max min mode pCurrency pFx pdt quotes sector session sharia shariaStatus step';

/** The queries of most clients: the screens of an app, and the queries of trading-graph-client. */
export const USUAL_DOCUMENTS: readonly string[] = [
  `query Home {
    session { login currency balance credit equity invested profits kycStatus }
    positions { id symbol side units priceOpen priceCurrent profit instrument { name logo digits } }
    withdrawalMethods { id title type status subtitle }
    customerId
  }`,
  `query Positions {
    positions {
      id symbol side name logo delayed sharia digits units priceOpen priceCurrent createdAt updatedAt
      leverage rateMargin rateProfit stopLoss takeProfit storage comment profit invested
      instrument { id name description leverage min max step limit mCurrency pCurrency }
    }
    orders { id symbol name side kind units invested leverage createdAt }
  }`,
  `query Search($term: String!) {
    instruments(first: 20, filter: { search: $term }) {
      nodes { id name description logo leverage digits }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  'query CustomerId { customerId }',
  'query TradingGraphAccount {\n  session {\n    login\n  }\n}',
  'query TradingGraphCatalogOwner{session{login group}}',
  `query TradingGraphCatalog($since:String!){catalog{group ageSeconds size changes(since:$since){reset removed upserted{${INSTRUMENT_FIELDS}}version}}}`,
  'query TradingGraphCatalogIds($since:String!){catalog{group ageSeconds size changes(since:$since){reset removed upserted{id}version}}}',
  `query TradingGraphCatalogPart($first:Int!,$after:String){catalog{group version ageSeconds size}instruments(first:$first,after:$after){nodes{${INSTRUMENT_FIELDS}}pageInfo{hasNextPage endCursor}}}`,
  `query TradingGraphCatalogPage($ids:[ID!]!,$first:Int!){catalog{group version}instruments(first:$first,filter:{ids:$ids}){nodes{${INSTRUMENT_FIELDS}}}}`,
  'query PlacedOrder($key: String!) { order: placedOrder(idempotencyKey: $key) { __typename ... on OrderOutcome { idempotencyKey message replayed } ... on OrderAccepted { orderId } ... on OrderRejected { error } ... on OrderOutcomeUnknown { sentAt } } }',
];
