import type { PreparedOperation } from '../documents/documents.ts';
import { overLimit } from '../operation/over-limit-error.ts';
import type { Refusal } from '../operation/refusal.ts';

// A part of the clients has gone elsewhere by then, and garbage was collected.
export const MEMORY_RETRY_SECONDS = 10;
// A screen of one account's; a list of what all share is more.
const CHEAP_COST = 1_000;

/** Refuses what would hold much memory while it is short. A write is let through: it may be what must not be lost, and its reads have a budget. */
export function overMemory(
  { node }: Pick<PreparedOperation, 'node'>,
  cost: number,
): Refusal | null {
  const type = node.operation;
  const isHeavy = type === 'subscription' || (type === 'query' && cost > CHEAP_COST);
  return isHeavy ? { ...overLimit('memory', MEMORY_RETRY_SECONDS), status: 503 } : null;
}
