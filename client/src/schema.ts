export { onAccountEnd } from './account-end.ts';
export { getDataID, keys } from './cache-keys.ts';
export { type ExecutionResult, executionResult, type FormattedError } from './execution-result.ts';
export {
  type ForwardedAnswers,
  type ForwardedRequest,
  type ForwardedSink,
  forwardTo,
} from './forward-to.ts';
export { ERROR_CODES, type ServerErrorCode } from './generated/error-codes.ts';
export { possibleTypes } from './generated/possible-types.ts';
export type { Instrument, PendingOrder, Position, Side } from './generated/rows.ts';
export { typesWithoutId } from './generated/types-without-id.ts';
