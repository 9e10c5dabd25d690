import { isSuccess } from '../../gateway/classify.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { commonRefusal } from '../../gateway/judge.ts';
import { OPERATIONS } from '../../gateway/operations.ts';
import type { OrderEnd } from '../../gateway/order-calls.ts';
import type { RecordedOutcome, UnsentOrder, UnsentReason } from '../../store/order-records.ts';

/** The outcome of an order that may have reached the gateway, as its record keeps it. "Unknown" is not "failed". */
export type Submission = RecordedOutcome;

export interface OrderResult {
  readonly outcome: Submission;
  readonly idempotencyKey: string;
  /** Nothing was sent for this answer: it is the recorded outcome of an earlier request. */
  readonly replayed: boolean;
  /** Whether it is unknown if an earlier request with a closed key was sent. */
  readonly earlierUnknown?: boolean;
}

type Acceptance = Extract<Submission, { kind: 'accepted' }>;

/** The order was not sent before its `sendBefore`. */
export const EXPIRED = unsent('EXPIRED');
/** The key was closed before any order used it. */
export const VOIDED = unsent('VOIDED');

/** The gateway may have an error of the same name. */
export function isVoided(submission: Submission): boolean {
  return isUnsent(submission) && submission.error === VOIDED.error;
}

/** Whether it was refused here and never sent. */
export function isUnsent(submission: Submission): submission is UnsentOrder {
  return submission.kind === 'rejected' && submission.sent === false;
}

/** Why it was refused here; null where the gateway refused it. */
export function unsentReason(submission: Submission): UnsentReason | null {
  return isUnsent(submission) ? submission.error : null;
}

type OrderOperation = 'openPosition' | 'placeLimitOrder';

// The text is kept for a day in each order's record, so a whole page is cut.
const MAX_TEXT_LENGTH = 500;
const MAX_ORDER_ID_LENGTH = 255;

/**
 * Maps an exchange to an outcome; throws a GatewayError where the gateway surely did not take the order
 * for a reason that is not about the order. The branches are the rows of docs/orders.md in their order:
 * the first that matches counts.
 */
export function judgeOrder(operation: OrderOperation, exchange: OrderEnd): Submission {
  if (!exchange.sent) {
    throw new GatewayError('unavailable', operation, 'never sent', { cause: exchange.cause });
  }
  if (!exchange.answered) return unknownSince(exchange.sentAtMs);

  const { status, sentAtMs } = exchange;
  const { success, namesOrder, orderId, error, message } = exchange.reply;
  const words = clip(message);
  const rejected = {
    kind: 'rejected',
    error: clip(error),
    message: words,
  } as const;
  // A gateway that answers yes and no in one response may have traded: this precedes every refusal.
  const isBoth = success === true ? !isSuccess(status) : namesOrder;
  if (isBoth) return unknownSince(sentAtMs, namesOrder ? naming(orderId, words) : words);
  if (success !== null && isSuccess(status)) {
    return success
      ? { kind: 'accepted', orderId: checkedOrderId(orderId), message: words }
      : rejected;
  }
  const refusal = commonRefusal(OPERATIONS[operation], exchange);
  if (refusal) throw refusal;
  // A 409 may answer a proxy's second copy of a request that traded; a 499 says that a proxy's client hung up.
  const isRefusal = status === 409 ? success === false : status !== 408 && status !== 499;
  if (status >= 400 && status <= 499 && isRefusal) {
    return rejected;
  }
  return unknownSince(sentAtMs, words);
}

export function unknownSince(sentAtMs: number, message: string | null = null): Submission {
  return { kind: 'unknown', sentAtMs, message };
}

/** The outcome of an acceptance whose number the gateway has given for another key: it may be that order's answer. */
export function duplicateNumber({ orderId, message }: Acceptance, sentAtMs: number): Submission {
  return unknownSince(sentAtMs, `${naming(orderId, message)} It was named for another key, too.`);
}

function unsent(error: UnsentReason): UnsentOrder {
  return { kind: 'rejected', error, message: null, sent: false };
}

/** People can ask what became of the order by its number. */
function naming(orderId: string | null, words: string | null): string {
  const id = checkedOrderId(orderId);
  const named = `The gateway named ${id === null ? 'an order' : `the order ${id}`}.`;
  return words ? `${words} (${named})` : named;
}

function clip(words: string | null): string | null {
  if (words === null || words.length <= MAX_TEXT_LENGTH) return words;
  return `${words.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…`;
}

// Half an id would name another order, or none.
function checkedOrderId(orderId: string | null): string | null {
  return orderId !== null && orderId.length <= MAX_ORDER_ID_LENGTH ? orderId : null;
}
