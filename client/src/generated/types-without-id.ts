// Written by `npm run docs` from the code of the server.

/** The object types that a normalized cache stores inside their parent object. */
export const typesWithoutId: readonly string[] = [
  'AccountAccess',
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
  'WithdrawalMethod',
];
