// Written by `npm run docs` from the code of the server.

/**
 * How Apollo's cache merges what has no key of its own. An object that may lack an id is part of the object that holds it, and
 * its fields are merged; a list is replaced by the newer one.
 */
export const generatedTypePolicies = {
  AccountAccess: {
    keyFields: false,
    merge: true,
  },
  AccountChanges: {
    keyFields: false,
    merge: true,
  },
  Acknowledged: {
    keyFields: false,
    merge: true,
  },
  Catalog: {
    fields: {
      instruments: { merge: false },
    },
  },
  CatalogChanges: {
    keyFields: false,
    merge: true,
    fields: {
      removed: { merge: false },
      upserted: { merge: false },
    },
  },
  ChangedOrders: {
    keyFields: false,
    merge: true,
    fields: {
      closed: { merge: false },
      upserted: { merge: false },
    },
  },
  ChangedPositions: {
    keyFields: false,
    merge: true,
    fields: {
      closed: { merge: false },
      opened: { merge: false },
      upserted: { merge: false },
    },
  },
  Instrument: {
    fields: {
      access: { merge: false },
      orders: { merge: false },
      positions: { merge: false },
      quotes: { merge: false },
      session: { merge: false },
    },
  },
  InstrumentConnection: {
    keyFields: false,
    merge: true,
    fields: {
      edges: { merge: false },
      nodes: { merge: false },
    },
  },
  InstrumentEdge: {
    keyFields: false,
    merge: true,
  },
  LoginRejected: {
    keyFields: false,
    merge: true,
  },
  LoginSuccess: {
    keyFields: false,
    merge: true,
    fields: {
      orders: { merge: false },
      positions: { merge: false },
      withdrawalMethods: { merge: false },
    },
  },
  OrderAccepted: {
    keyFields: false,
    merge: true,
    fields: {
      orders: { merge: false },
      positions: { merge: false },
    },
  },
  OrderOutcomeUnknown: {
    keyFields: false,
    merge: true,
    fields: {
      orders: { merge: false },
      positions: { merge: false },
    },
  },
  OrderRejected: {
    keyFields: false,
    merge: true,
  },
  PageInfo: {
    keyFields: false,
    merge: true,
  },
  PositionChanges: {
    keyFields: false,
    merge: true,
    fields: {
      closed: { merge: false },
      opened: { merge: false },
      upserted: { merge: false },
    },
  },
  PositionTotals: {
    keyFields: false,
    merge: true,
  },
  Query: {
    fields: {
      instrumentsByIds: { merge: false },
      orders: { merge: false },
      positions: { merge: false },
      withdrawalMethods: { merge: false },
    },
  },
  Rejected: {
    keyFields: false,
    merge: true,
  },
  Session: {
    fields: {
      orders: { merge: false },
      positions: { merge: false },
    },
  },
  Subscription: {
    fields: {
      positions: { merge: false },
    },
  },
  Swap: {
    keyFields: false,
    merge: true,
  },
  TradingHours: {
    keyFields: false,
    merge: true,
    fields: {
      otherExtended: { merge: false },
      overnight: { merge: false },
      postMarket: { merge: false },
      preMarket: { merge: false },
      regular: { merge: false },
    },
  },
  WithdrawalMethod: {
    keyFields: false,
    merge: true,
  },
} as const;
