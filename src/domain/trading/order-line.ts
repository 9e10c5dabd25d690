import { randomBytes } from 'node:crypto';
import { logHash } from '../../../lib/log-hash.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Placed } from './orders.ts';
import type { Ticket } from './ticket.ts';

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
    const { symbol, side, price, stopLoss, takeProfit } = order;
    const asked = { symbol, side, size, price, stopLoss, takeProfit };
    return {
      requestId,
      key: logHash(hashKey, idempotencyKey),
      kind: isLimit || price !== null ? 'PENDING' : 'MARKET',
      ...asked,
      ...(end instanceof Error ? { outcome: 'unsent', error: end.name } : outcomeOf(end)),
    };
  };
}

function outcomeOf({ outcome, replayed }: Placed) {
  const { kind, message } = outcome;
  if (kind === 'accepted') return { outcome: kind, orderId: outcome.orderId, replayed };
  if (kind === 'unknown') {
    return { outcome: kind, message, sentAt: new Date(outcome.sentAtMs).toISOString(), replayed };
  }
  const { error, sent = true } = outcome;
  return sent
    ? { outcome: kind, error, message, replayed }
    : { outcome: error?.toLowerCase(), replayed };
}
