import type { GraphPlugin } from '../admission/plugin.ts';
import { overLimit } from './over-limit-error.ts';

// Until then a part of the clients has gone elsewhere, and garbage was collected.
export const MEMORY_RETRY_SECONDS = 10;
// A screen of one account's; a list of what all share is more.
const CHEAP_COST = 1_000;

/** Refuses what would hold much memory while it is short. A write is let through: it may be what must not be lost, and its reads have a budget. Needs `prepared` and `cost`. */
export function useMemoryLimit(isShort: () => boolean): GraphPlugin {
  return {
    onAdmit({ operation: { prepared, cost } }) {
      const type = prepared.node.operation;
      const isHeavy = type === 'subscription' || (type === 'query' && cost > CHEAP_COST);
      if (!isShort() || !isHeavy) return null;
      return { ...overLimit('memory', MEMORY_RETRY_SECONDS), status: 503 };
    },
  };
}
