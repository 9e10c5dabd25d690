import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLError,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import { INEXACT } from '../../lib/exact-json.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import { argumentInMessage } from './argument-names.ts';
import { redactTexts, textsIn } from './redact-literals.ts';

interface CoercedArgs {
  readonly kind: 'args';
  readonly args: ValidatedExecutionArgs;
}

// Each error quotes the value, which may be long.
const MAX_COERCION_ERRORS = 3;

/** Returns the executor's arguments for one request, with coerced variables. The document has been validated. */
export function executionArgs(given: ExecutionArgs): CoercedArgs | Refusal {
  const options = { maxCoercionErrors: MAX_COERCION_ERRORS };
  const args = validateExecutionArgs({ ...given, options });
  if ('schema' in args) return { kind: 'args', args };
  const texts = textsIn(given.variableValues);
  return refused(args.map((error) => published(error, texts, given.document)));
}

/** Converts the error of a variable to one that names its argument and quotes no value. */
function published(
  { message }: GraphQLError,
  texts: Iterable<string>,
  document: DocumentNode,
): GraphQLError {
  const argument = argumentInMessage(message, document);
  // graphql-js prints the value INEXACT as `Symbol(…)`. Clients get its description.
  const shown = message.replaceAll(String(INEXACT), `${INEXACT.description}`);
  const extensions = argument === null ? {} : { argument };
  return requestError('BAD_USER_INPUT', redactTexts(shown, texts), extensions);
}
