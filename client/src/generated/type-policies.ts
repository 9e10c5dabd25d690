// Written by `npm run docs` from the code of the server.

import type { TypePolicies, TypePolicy } from '@apollo/client/cache';

const PART = { keyFields: false, merge: true } as const;

/**
 * How Apollo's cache merges what has no key of its own. An object that may lack an id is part of the object that holds it, and
 * its fields are merged; a list is replaced by the newer one.
 */
export const generatedTypePolicies: TypePolicies = {
  AccountAccess: { ...PART },
  AccountChanges: { ...PART },
  Acknowledged: { ...PART, ...lists('withdrawalMethods') },
  Catalog: { ...lists('instruments') },
  CatalogChanges: { ...PART, ...lists('removed upserted') },
  ChangedOrders: { ...PART, ...lists('closed upserted') },
  ChangedPositions: { ...PART, ...lists('closed opened ticks upserted') },
  Instrument: { ...lists('access orders positions quotes session') },
  InstrumentConnection: { ...PART, ...lists('edges nodes') },
  InstrumentEdge: { ...PART },
  LoginRejected: { ...PART },
  LoginSuccess: { ...PART, ...lists('orders positions withdrawalMethods') },
  OrderAccepted: { ...PART, ...lists('orders positions') },
  OrderOutcomeUnknown: { ...PART, ...lists('orders positions') },
  OrderRejected: { ...PART },
  PageInfo: { ...PART },
  PositionChanges: { ...PART, ...lists('closed opened ticks upserted') },
  PositionTick: { ...PART },
  PositionTotals: { ...PART },
  Query: { ...lists('instrumentsByIds orders positions withdrawalMethods') },
  Rejected: { ...PART },
  Session: { ...lists('orders positions') },
  Subscription: { ...lists('positions') },
  Swap: { ...PART },
  TradingHours: { ...PART, ...lists('otherExtended overnight postMarket preMarket regular') },
  WithdrawalMethod: { ...PART },
};

function lists(names: string): TypePolicy {
  return { fields: Object.fromEntries(names.split(' ').map((name) => [name, { merge: false }])) };
}
