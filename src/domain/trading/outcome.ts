import type { OrderEnd } from '../../gateway/client.ts';
import { commonRefusal, isSuccess } from '../../gateway/judge.ts';
import { OPERATIONS } from '../../gateway/operations.ts';
import type { RecordedOutcome, UnsentOrder, UnsentReason } from '../../store/order-records.ts';
import { UnsentOrderError } from './order-errors.ts';

/** The outcome of an order that may have reached the gateway, as recorded. "Unknown" is not "failed". */
export type Submission = RecordedOutcome;

export interface OrderResult {
  readonly outcome: Submission;
  readonly idempotencyKey: string;
  /** Whether this is the recorded outcome of an earlier request, and nothing was sent for this answer. */
  readonly replayed: boolean;
}

type Acceptance = Extract<Submission, { kind: 'accepted' }>;

export const EXPIRED: UnsentOrder = {
  kind: 'rejected',
  error: 'EXPIRED',
  message: null,
  sent: false,
};
/** Whether this service refused the order without sending it, or an operator has settled it as never carried out. */
export function isUnsent(submission: Submission): submission is UnsentOrder {
  return submission.kind === 'rejected' && submission.sent === false;
}

/** Why the order counts as unsent; null if the gateway refused it. */
export function unsentReason(submission: Submission): UnsentReason | null {
  return isUnsent(submission) ? submission.error : null;
}

type OrderOperation = 'openPosition' | 'placeLimitOrder';

// The text is kept for a day in each order's record, so a long text, such as a whole page, is cut.
const MAX_TEXT_LENGTH = 500;
const MAX_ORDER_ID_LENGTH = 255;

/**
 * Maps an exchange to an outcome. Throws a GatewayError if the gateway certainly did not accept the order, for a reason
 * that does not concern the order. The branches are the rows of docs/orders.md in their order: the first match counts.
 */
export function judgeOrder(operation: OrderOperation, exchange: OrderEnd): Submission {
  if (!exchange.sent) {
    throw new UnsentOrderError(operation, exchange.cause);
  }
  if (!exchange.answered) return unknownSince(exchange.sentAtMs);

  const { status, sentAtMs } = exchange;
  const { success, namesOrder, orderId, error, message } = exchange.reply;
  const words = clip(message);
  const rejected = { kind: 'rejected', error: clip(error), message: words } as const;
  // If the answer claims success with an error's status, or names an order without success, the gateway may have traded.
  // So this check precedes every refusal.
  const isContradiction = success === true ? !isSuccess(status) : namesOrder;
  if (isContradiction) return unknownSince(sentAtMs, namesOrder ? naming(orderId, words) : words);
  if (success !== null && isSuccess(status)) {
    return success
      ? { kind: 'accepted', orderId: checkedOrderId(orderId), message: words }
      : rejected;
  }
  const refusal = commonRefusal(OPERATIONS[operation], exchange);
  if (refusal) throw refusal;
  return isRefusal(status, success) ? rejected : unknownSince(sentAtMs, words);
}

function isRefusal(status: number, success: boolean | null): boolean {
  // If a proxy sends a request twice, one copy may trade and the other get a 409.
  if (status === 409) return success === false;
  // After a timeout (408), or a client that left its proxy (499), the gateway may still trade.
  return status >= 400 && status <= 499 && status !== 408 && status !== 499;
}

export function unknownSince(sentAtMs: number, message: string | null = null): Submission {
  return { kind: 'unknown', sentAtMs, message };
}

/** The outcome if the gateway gave the same number for another key before: the answer may be about the earlier order. */
export function duplicateNumber({ orderId, message }: Acceptance, sentAtMs: number): Submission {
  return unknownSince(sentAtMs, `${naming(orderId, message)} It was named for another key, too.`);
}

/** With the number, users can ask their broker about the order. */
function naming(orderId: string | null, words: string | null): string {
  const id = checkedOrderId(orderId);
  const named = `The gateway named ${id === null ? 'an order' : `the order ${id}`}.`;
  return words ? `${words} (${named})` : named;
}

function clip(words: string | null): string | null {
  if (words === null || words.length <= MAX_TEXT_LENGTH) return words;
  return `${words.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…`;
}

/** Null if the id is too long: a truncated id would name another order, or no order. */
function checkedOrderId(orderId: string | null): string | null {
  return orderId !== null && orderId.length <= MAX_ORDER_ID_LENGTH ? orderId : null;
}
