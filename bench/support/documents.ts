/** The document of each screen for a GraphQL client; the hand-written subjects answer the same. */

export const HOME = `query Home {
  session { login currency balance credit equity invested profits kycStatus }
  customerId
  positions {
    id symbol side units priceOpen priceCurrent profit
    instrument { name logo digits }
  }
  withdrawalMethods { id title type status subtitle }
}`;

export const SEARCH = `query Search($term: String!) {
  instruments(first: 20, filter: { search: $term }) {
    nodes { id name description logo leverage digits }
  }
}`;

export const POSITIONS = `query Positions {
  positions {
    id symbol side name logo delayed sharia digits units priceOpen priceCurrent createdAt updatedAt
    leverage rateMargin rateProfit stopLoss takeProfit storage comment profit invested
    instrument { id name description leverage min max step limit mCurrency pCurrency }
  }
}`;

export const CUSTOMER_ID = 'query CustomerId { customerId }';
