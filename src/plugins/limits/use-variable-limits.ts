import type { GraphPlugin } from '../plugin.ts';
import { refused } from '../refusal.ts';
import { variablesError } from './variable-limits.ts';

/** Bounds the variables before anything recurses into them. */
export function useVariableLimits(): GraphPlugin {
  return {
    onAdmit({ operation: { params } }) {
      const error = variablesError(params.variables);
      return error === null ? null : refused([error]);
    },
  };
}
