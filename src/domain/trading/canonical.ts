import { createHash } from 'node:crypto';
import type { Ticket } from './ticket.ts';

/**
 * The digest that identifies a repeat: equal for two tickets that request the same order. Numbers compare
 * by value and absent is null already in the ticket; the list fixes the order of the fields.
 */
export function canonical(ticket: Ticket): string {
  const { operation, order } = ticket;
  const { symbol, side, price, stopLoss, takeProfit, comment } = order;
  const size = 'size' in order ? [order.size.by, order.size.value] : ['amount', order.amount];
  const fields = [operation, symbol, side, ...size, price, level(stopLoss), level(takeProfit)];
  // A digest keeps a record's size independent of the comment's.
  return createHash('sha256')
    .update(JSON.stringify([...fields, comment]))
    .digest('hex');
}

function level(value: { by: string; value: number } | number | null) {
  return value !== null && typeof value === 'object' ? [value.by, value.value] : value;
}
