export { type LinkContext, tradingGraphLink } from './apollo/trading-graph-link.ts';
export { typePolicies } from './apollo/type-policies.ts';
export { type WrittenChanges, writePositionChanges } from './apollo/write-position-changes.ts';
export { possibleTypes } from './generated/possible-types.ts';
