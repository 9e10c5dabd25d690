import { randomBytes } from 'node:crypto';
import { logHash } from '../../../lib/log-hash.ts';
import { redact } from '../../../lib/redact.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Viewer } from '../auth/viewer.ts';
import { isBeforeSending } from './order-errors.ts';
import type { Placed } from './orders.ts';
import type { Ticket } from './ticket.ts';

// A client sends whatever text it likes.
const MAX_SYMBOL_LENGTH = 64;

export type OrderLine = ReturnType<typeof orderLines>;

/**
 * Makes an order's line of the log: what was asked, and what became of it, so that a disputed order is found by its key, its
 * number or its request. The key stands in it as a hash, by LOG_ACCOUNT_KEY, since whoever has it could close it.
 */
export function orderLines(accountKey: string | null) {
  const hashKey = accountKey ?? randomBytes(32);
  return (
    { requestId }: Viewer,
    { operation, order, idempotencyKey }: Ticket,
    end: Placed | Error,
  ) => {
    const isLimit = operation === 'placeLimitOrder';
    const size = isLimit ? { by: 'amount', value: order.amount } : order.size;
    const { side, price, stopLoss, takeProfit } = order;
    const symbol = order.symbol.slice(0, MAX_SYMBOL_LENGTH);
    return {
      requestId,
      key: logHash(hashKey, idempotencyKey),
      kind: isLimit || price !== null ? 'PENDING' : 'MARKET',
      symbol,
      side,
      size,
      price,
      stopLoss,
      takeProfit,
      ...(end instanceof Error ? failureOf(end) : outcomeOf(end)),
    };
  };
}

/** The gateway's own refusal, of a token or a flood, came after it was sent. */
function failureOf(error: Error) {
  const outcome = isBeforeSending(error) ? 'unsent' : 'failed';
  const why = error instanceof GatewayError ? { reason: error.kind, status: error.status } : {};
  return { outcome, error: error.name, ...why };
}

function outcomeOf({ outcome, replayed }: Placed) {
  const { kind } = outcome;
  const message = outcome.message && redact(outcome.message);
  if (kind === 'accepted') return { outcome: kind, orderId: outcome.orderId, replayed };
  if (kind === 'unknown') {
    return { outcome: kind, message, sentAt: new Date(outcome.sentAtMs).toISOString(), replayed };
  }
  const { error, sent = true } = outcome;
  return sent
    ? { outcome: kind, error: error && redact(error), message, replayed }
    : { outcome: error?.toLowerCase(), replayed };
}
