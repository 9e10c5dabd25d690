import { evaluate } from '../cost/amount.ts';
import type { GraphPlugin } from '../plugin.ts';

/** Determines how old the reads may be that fields with an age limit share, before any is resolved. */
export function useAgeLimits(): GraphPlugin {
  return {
    onAdmit({ operation }) {
      operation.ageLimit = evaluate(operation.prepared.ageLimit, operation.inputs);
      return null;
    },
  };
}
