export { type LinkContext, tradingGraphLink } from './apollo/trading-graph-link.ts';
export { typePolicies } from './apollo/type-policies.ts';
export {
  type WrittenAccountChanges,
  type WrittenChanges,
  type WrittenList,
  writeAccountChanges,
  writeListChanges,
  writePositionChanges,
} from './apollo/write-changes.ts';
export { possibleTypes } from './generated/possible-types.ts';
