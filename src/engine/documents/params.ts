import {
  type ASTNode,
  type ASTVisitFn,
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type FloatValueNode,
  type GraphQLError,
  GraphQLID,
  getNamedType,
  type IntValueNode,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  type ValidationContext,
  validateExecutionArgs,
  visit,
} from 'graphql';
import { INEXACT, isExactNumber, isObject } from '../../lib/json.ts';
import { located, Refusal, refusal, requestError, tooComplex } from '../core/errors.ts';
import { redactTexts, textsIn } from './redact-literals.ts';

/** The parameters of GraphQL over HTTP, for every transport: a document, its id, or both. */
export interface Params {
  /** Null if only the id of the document was sent. */
  readonly query: string | null;
  readonly documentId: string | null;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

// The variables of real forms are nested less deeply.
const MAX_VARIABLES_DEPTH = 100;
const PREFIX = 'sha256:';
const SHA256 = /^[0-9a-f]{64}$/i;

/** Checks the parameters, which can be JSON of any shape, in one place for every transport. Throws a Refusal. */
export function readParams(sent: unknown): Params {
  if (!isObject(sent)) throw malformed('The request is one object.');
  const { query, operationName, variables, extensions } = sent;
  if (operationName != null && typeof operationName !== 'string') {
    throw malformed('`operationName` is a text.');
  }
  if (variables != null && !isObject(variables)) throw malformed('`variables` is an object.');
  if (extensions != null && !isObject(extensions)) throw malformed('`extensions` is an object.');
  const id = readId(sent.documentId, extensions?.persistedQuery);
  const text = typeof query === 'string' && query.trim() !== '' ? query : null;
  // Beside an id the text may be missing or empty: some protocols require the field.
  const mayLackText = id !== null && (query == null || query === '');
  if (text === null && !mayLackText) throw malformed('`query` is the text of a document.');
  checkDepth(variables ?? {});
  // Some tools always send an `operationName`, and leave it empty.
  return {
    query: text,
    documentId: id,
    operationName: operationName || null,
    variables: variables ?? {},
  };
}

/** Reads `documentId`, or else the hash of Apollo's protocol. An empty id counts as missing. */
function readId(id: unknown, persisted: unknown): string | null {
  if (id != null && typeof id !== 'string') throw malformed('`documentId` is a text.');
  if (id) return documentId(id);
  if (persisted == null) return null;
  if (!isObject(persisted) || typeof persisted.sha256Hash !== 'string') {
    throw malformed('`extensions.persistedQuery` has a `sha256Hash`.');
  }
  return documentId(persisted.sha256Hash);
}

/** Normalizes an id: hashes are sent in either case, with or without the name of their method. */
export function documentId(given: string): string {
  const bare = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
  return SHA256.test(bare) ? bare.toLowerCase() : given;
}

function malformed(message: string): Refusal {
  return refusal('GRAPHQL_PARSE_FAILED', message, { isWellFormed: false });
}

/** Bounds the depth of variables, without recursion, before they are coerced: deep variables could overflow the stack. */
function checkDepth(variables: Readonly<Record<string, unknown>>): void {
  let level: object[] = [variables];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_VARIABLES_DEPTH) {
      throw new Refusal([tooComplex('depth of variables', depth, MAX_VARIABLES_DEPTH)]);
    }
    level = level
      .flatMap((parent): unknown[] => Object.values(parent))
      .filter((value) => typeof value === 'object' && value !== null);
  }
}

// Each error quotes the value, which may be long.
const MAX_COERCION_ERRORS = 3;

/** The variables that an operation defines. Others have no effect, and a subscription would retain them. */
export function definedVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = variableDefinitions.map(({ variable }) => variable.name.value);
  const given = names.filter((name) => Object.hasOwn(sent, name));
  return Object.fromEntries(given.map((name) => [name, sent[name]]));
}

/** Returns the executor's arguments for one request, with coerced variables. Throws a Refusal if they are invalid. */
export function executionArgs(given: ExecutionArgs): ValidatedExecutionArgs {
  const options = { maxCoercionErrors: MAX_COERCION_ERRORS };
  const args = validateExecutionArgs({ ...given, options });
  if ('schema' in args) return args;
  const texts = textsIn(given.variableValues);
  throw new Refusal(args.map((error) => published(error, texts, given.document)));
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

/** A message of graphql-js about a variable. The groups: the variable, the path in its value, a missing or unknown field. */
const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/**
 * Returns the argument that an invalid variable is used for, such as `input.size.units`, because a form knows its inputs
 * but not the variables. Null if the message is not about a variable.
 */
function argumentInMessage(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const argument = argumentOfVariable(variable, document);
  return `${argument}${path}${field === undefined ? '' : `.${field}`}`;
}

/** The argument that a variable is used for, or a part of it; the variable's own name if it is unused. */
function argumentOfVariable(variable: string, document: DocumentNode): string {
  let found = '';
  visit(document, {
    Variable({ name }, _key, parent, _path, ancestors) {
      if (name.value !== variable) return undefined;
      found = argumentAround([...ancestors, parent]);
      // The declaration of the variable is visited too, and is outside every argument.
      return found === '' ? undefined : BREAK;
    },
  });
  return found || variable;
}

type Ancestor = ASTNode | readonly ASTNode[] | undefined;

/** The argument that contains a node, or a part of it; '' if there is none. */
function argumentAround(ancestors: readonly Ancestor[]): string {
  return ancestors.flatMap(argumentName).join('.');
}

function argumentName(ancestor: Ancestor): string[] {
  if (ancestor === undefined || !('kind' in ancestor)) return [];
  const isNamed = ancestor.kind === 'Argument' || ancestor.kind === 'ObjectField';
  return isNamed ? [ancestor.name.value] : [];
}

/** A validation rule: each number in a document must be exact as a double. */
export function ExactNumbersRule(context: ValidationContext) {
  const check: ASTVisitFn<IntValueNode | FloatValueNode> = (
    node,
    _key,
    parent,
    _path,
    ancestors,
  ) => {
    // An ID is kept as text.
    if (getNamedType(context.getInputType()) === GraphQLID || isExactNumber(node.value)) return;
    const argument = argumentAround([...ancestors, parent]);
    const message = `There is ${INEXACT.description}.`;
    const error = requestError('BAD_USER_INPUT', message, argument === '' ? {} : { argument });
    context.reportError(located(error, { nodes: [node] }));
  };
  return { IntValue: check, FloatValue: check };
}
