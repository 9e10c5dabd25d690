import type { DocumentNode, GraphQLError } from 'graphql';
import { INEXACT } from '../../lib/exact-json.ts';
import type { GraphPlugin } from '../admission/plugin.ts';
import { refused } from '../admission/refusal.ts';
import { requestError } from '../errors/request-error.ts';
import type { PreparedDocument } from './documents.ts';
import { redactTexts, textsIn } from './redact-literals.ts';
import { blamedArgument, isAboutNullMember, nullMemberError } from './refused-literals.ts';

/** Coerces the variables once, for the cost and for the executors. Needs `prepared` of usePreparedDocuments; fills `values`. */
export function useVariables(): GraphPlugin {
  return {
    onAdmit({ operation }) {
      const { prepared, params, document } = operation;
      const read = prepared.args.read(params.variables);
      if ('errors' in read) {
        const blame = blaming((document as PreparedDocument).document, params.variables);
        return refused(read.errors.map(blame));
      }
      operation.values = read.values;
      return null;
    },
  };
}

/** Rewrites the errors of variables so that they name the argument and quote no value. */
function blaming(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): (error: GraphQLError) => GraphQLError {
  const texts = textsIn(variables);
  return ({ message }) => {
    const argument = blamedArgument(message, document);
    if (argument !== null && isAboutNullMember(message, variables))
      return nullMemberError(argument);
    const more = argument === null ? {} : { argument };
    // GraphQL prints INEXACT as a symbol.
    const shown = message.replaceAll(String(INEXACT), `${INEXACT.description}`);
    return requestError('BAD_USER_INPUT', redactTexts(shown, texts), more);
  };
}
