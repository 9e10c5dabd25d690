import { GraphQLError } from 'graphql';
import type { GraphPlugin } from '../plugin.ts';
import { refused } from '../refusal.ts';
import { readParams } from './params.ts';

/** Checks the parameters, which yoga checks again for what it knows, and which sockets do not check. */
export function useParams(): GraphPlugin {
  return {
    onAdmit({ operation }) {
      const params = readParams(operation.sent);
      if (params instanceof GraphQLError) return { ...refused([params]), isWellFormed: false };
      operation.params = params;
      return null;
    },
  };
}
