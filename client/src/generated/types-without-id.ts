// Written by `npm run docs` from the code of the server.

/** The object types that are part of what they stand in, as a normalized cache may ask for them. */
export const typesWithoutId: readonly string[] = [
  'AccountChanges',
  'Acknowledged',
  'CatalogChanges',
  'ChangedOrders',
  'ChangedPositions',
  'InstrumentConnection',
  'InstrumentEdge',
  'LoginRejected',
  'LoginSuccess',
  'OrderAccepted',
  'OrderOutcomeUnknown',
  'OrderRejected',
  'PageInfo',
  'PositionChanges',
  'PositionTick',
  'PositionTotals',
  'Rejected',
  'Swap',
  'TradingHours',
];
