import type { ExecutionResult } from 'graphql';
import { after } from '../../lib/eventually.ts';
import type { Operation } from '../operation.ts';
import type { GraphPlugin } from '../plugin.ts';
import type { CostQuota } from './cost-quota.ts';

/** Refuses a client whose budget of the minute is used up, and charges what its answers contain. */
export function useCostBudget(quota: CostQuota): GraphPlugin {
  return {
    onAdmit: ({ operation: { client } }) => quota.refusal(client),
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const { operation } = contextValue;
      const charged = <Result>(result: Result): Result => {
        quota.charge(operation.client, operation.meter.fields);
        return result;
      };
      setExecuteFn((args) => after(refusalOf(quota, operation) ?? executeFn(args), charged));
    },
  };
}

/** Hundreds of costly operations may have been admitted before the first of them was charged. */
function refusalOf(quota: CostQuota, { client, meter }: Operation): ExecutionResult | null {
  const refusal = meter.isCostly ? quota.refusal(client) : null;
  return refusal && { errors: refusal.errors };
}
