import type { GraphPlugin } from '../admission/plugin.ts';
import { refused } from '../admission/refusal.ts';
import { requestError } from '../errors/request-error.ts';

/** Refuses a mutation by GET, which caches and links may repeat, and events that are not accepted. Needs `prepared` of usePreparedDocuments. */
export function useTransportRules(): GraphPlugin {
  return {
    onAdmit({ operation: { prepared, transport } }) {
      const type = prepared.node.operation;
      if (type === 'mutation' && !transport.mayMutate) {
        const error = requestError('BAD_USER_INPUT', 'Mutations are sent by POST.');
        return refused([error], 405, { allow: 'POST' });
      }
      if (type !== 'subscription' || transport.takesEvents) return null;
      const message = 'The answer is JSON, or an event stream.';
      return refused([requestError('GRAPHQL_PARSE_FAILED', message)], 406);
    },
  };
}
