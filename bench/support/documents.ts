/** The document of each screen for a GraphQL client; the hand-written contestants answer the same. */

const INSTRUMENT_FIELDS = `
  id symbol name description logo delayed sharia shariaStatus leverage pdt digits session quotes
  tradingHours { timezone regular preMarket postMarket overnight otherExtended }
  sector industry mode calc swap { long short mode tick }
  min max step limit mCurrency pCurrency mFx pFx access`;

export const HOME = `query Home {
  session { login currency balance credit equity invested profits kycStatus }
  positions {
    id symbol side units priceOpen priceCurrent profit
    instrument { name logo digits }
  }
  withdrawalMethods { id title type status subtitle }
  customerId
}`;

export const SEARCH = `query Search($term: String!) {
  instruments(first: 20, filter: { search: $term }) {
    nodes { id name description logo leverage digits }
  }
}`;

export const CATALOG = `query Catalog { catalog { instruments { ${INSTRUMENT_FIELDS} } } }`;

export const POSITIONS = `query Positions {
  positions {
    id symbol side name logo delayed sharia digits units priceOpen priceCurrent createdAt updatedAt
    leverage rateMargin rateProfit stopLoss takeProfit storage comment profit invested
    instrument { id name description leverage min max step limit mCurrency pCurrency }
  }
}`;

export const CUSTOMER_ID = 'query CustomerId { customerId }';
