import type { DocumentNode, GraphQLError, GraphQLSchema, VariableValues } from 'graphql';
import { INEXACT } from '../../lib/exact-json.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { PreparedDocument, PreparedOperation } from './documents.ts';
import { redactTexts, textsIn, withEnumValues } from './redact-literals.ts';
import { blamedArgument, isAboutNullMember, nullMemberError } from './refused-literals.ts';

type Variables = Readonly<Record<string, unknown>>;

export interface CoercedVariables {
  readonly kind: 'values';
  readonly variables: Variables;
  readonly values: VariableValues;
}

/** Coerces the variables once, for the cost and for the executors. */
export function coerceVariables(
  { args }: PreparedOperation,
  { document }: PreparedDocument,
  variables: Variables,
): CoercedVariables | Refusal {
  const read = args.read(variables);
  if (read.kind === 'invalid')
    return refused(read.errors.map(blaming(document, variables, args.shownSchema)));
  return { kind: 'values', variables, values: read.values };
}

/** Rewrites the errors of variables so that they name the argument and quote no value. */
function blaming(
  document: DocumentNode,
  variables: Variables,
  schema: GraphQLSchema | null,
): (error: GraphQLError) => GraphQLError {
  const texts = textsIn(variables);
  return ({ message }) => {
    const argument = blamedArgument(message, document);
    if (argument !== null && isAboutNullMember(message, variables))
      return nullMemberError(argument);
    const more = argument === null ? {} : { argument };
    // GraphQL prints INEXACT as a symbol.
    const shown = message.replaceAll(String(INEXACT), `${INEXACT.description}`);
    const redacted = redactTexts(shown, texts);
    const named = schema === null ? redacted : withEnumValues(redacted, schema);
    return requestError('BAD_USER_INPUT', named, more);
  };
}
