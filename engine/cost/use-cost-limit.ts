import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { GraphPlugin } from '../admission/plugin.ts';
import { refused } from '../admission/refusal.ts';
import { tooComplex } from '../limits/structure.ts';
import { evaluate } from './amount.ts';
import { Meter } from './meter.ts';

interface CostLimitOptions {
  /** The most fields that an answer may contain. */
  readonly maxCost: number;
  readonly scheduler: FairScheduler;
  /** Whether others see the result, as a tree, before it is serialized. */
  readonly keepsTree: boolean;
}

/**
 * Refuses an operation whose answer could be too large, and counts the fields of all others. Needs `client` of
 * useClientLimits and `prepared` of usePreparedDocuments; fills `inputs`, `cost` and `meter`.
 */
export function useCostLimit({ maxCost, scheduler, keepsTree }: CostLimitOptions): GraphPlugin {
  return {
    onAdmit(context) {
      const { operation } = context;
      operation.inputs = context.costInputs();
      const cost = evaluate(operation.prepared.cost, operation.inputs);
      if (cost > maxCost) return refused([tooComplex('MAX_COST', cost, maxCost)]);
      operation.cost = cost;
      const client = operation.client.key;
      operation.meter = new Meter({
        maxFields: maxCost,
        scheduler,
        client,
        estimate: cost,
        keepsTree,
        signal: operation.prepared.node.operation === 'query' ? operation.signal : undefined,
      });
      return null;
    },
  };
}
