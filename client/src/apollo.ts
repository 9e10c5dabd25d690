export { type LinkContext, tradingGraphLink } from './apollo/trading-graph-link.ts';
export { typePolicies } from './apollo/type-policies.ts';
export { possibleTypes } from './generated/possible-types.ts';
