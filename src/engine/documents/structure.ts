import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { traitOf } from '../../lib/field-traits.ts';
import type { LimitLabel } from '../operation/limits.ts';
import { located, requestError } from '../operation/request-error.ts';
import { redactTexts } from './redact-literals.ts';
import { repeatedPairs, SelectionMeasure, type SelectionSize } from './selection-size.ts';
import { type Fragments, fragmentsOf, unfold } from './selections.ts';

export interface StructureLimits {
  readonly maxTokens: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

// These bound the cost of the checks themselves; documents that people write stay far below.
const MAX_OPERATIONS = 50;
const MAX_VARIABLES = 100;
// Validation follows each spread and each use of a variable up to three times, and gives up after 50,000 steps.
const MAX_SELECTIONS = 15_000;
const MAX_REPEATED_PAIRS = 10_000;

const MAX_MUTATION_FIELDS = 5;

/** A field of the root that an operation may select so often. */
type OfField = `${string} fields`;

export function tooComplex(
  limit: LimitLabel | OfField,
  value: number,
  maximum: number,
): GraphQLError {
  const shown = Math.min(value, Number.MAX_SAFE_INTEGER);
  const words = WORDS[limit];
  const message = words
    ? `${words[0]} ${shown} ${words[1]}; the limit is ${maximum} (${limit}).`
    : `The limit of ${limit} is ${maximum}, and the request has ${shown}.`;
  return requestError('QUERY_TOO_COMPLEX', message, { limit, value: shown, maximum });
}

/** The words around the value, for limits that are settings. */
const WORDS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  MAX_DEPTH: ['The query is', 'levels deep'],
  MAX_TOKENS: ['The document has', 'tokens'],
  MAX_ALIASES: ['The document has', 'aliases'],
  MAX_DIRECTIVES: ['The document has', 'directives'],
  MAX_COST: ['The answer can have', 'fields'],
};

/** Checks a document with its fragments unfolded, before validation, which a hostile one can make expensive. */
export function structureErrors(
  document: DocumentNode,
  limits: StructureLimits,
  schema: GraphQLSchema,
): GraphQLError[] {
  const operations = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (operations.length > MAX_OPERATIONS) {
    return [tooComplex('operations', operations.length, MAX_OPERATIONS)];
  }
  const fragments = fragmentsOf(document);
  const measure = new SelectionMeasure(fragments);
  // Unused fragments are measured too, because validation walks them as well.
  const sizes = [...operations, ...fragments.values()].map((definition) =>
    measure.of(definition.selectionSet),
  );
  if (measure.circular !== null) {
    // Validation reports cycles too, but its other rules must not run on such fragments. A name may be as long as the body.
    const message = redactTexts(`Fragment "${measure.circular}" leads back to itself.`, []);
    return [requestError('GRAPHQL_VALIDATION_FAILED', message)];
  }
  const errors = worstOfEach(operations, (one, at) =>
    operationErrors(one, sizes[at] as SelectionSize, limits),
  );
  const selections = sizes.reduce((sum, size) => sum + size.selections, 0);
  if (selections > MAX_SELECTIONS) {
    errors.push(tooComplex('selections', selections, MAX_SELECTIONS));
  }
  return errors.length > 0 ? errors : unfoldedErrors(operations, fragments, schema);
}

/** Only the worst of many operations that exceed one limit is reported, with its location. */
function worstOfEach(
  operations: readonly OperationDefinitionNode[],
  errorsOf: (operation: OperationDefinitionNode, at: number) => readonly GraphQLError[],
): GraphQLError[] {
  const worst = new Map<unknown, GraphQLError>();
  for (const [at, operation] of operations.entries()) {
    for (const error of errorsOf(operation, at)) {
      const { limit, value } = error.extensions;
      const known = worst.get(limit);
      if (known && Number(known.extensions.value) >= Number(value)) continue;
      worst.set(limit, operations.length > 1 ? located(error, { nodes: [operation] }) : error);
    }
  }
  return [...worst.values()];
}

function operationErrors(
  operation: OperationDefinitionNode,
  size: SelectionSize,
  limits: StructureLimits,
): GraphQLError[] {
  const directives = size.directives + ownDirectives(operation);
  const measured = [
    ['variables', operation.variableDefinitions?.length ?? 0, MAX_VARIABLES],
    ['MAX_DEPTH', size.depth, limits.maxDepth],
    ['MAX_ALIASES', size.aliases, limits.maxAliases],
    ['MAX_DIRECTIVES', directives, limits.maxDirectives],
  ] as const;
  return measured
    .filter(([, value, maximum]) => value > maximum)
    .map(([limit, value, maximum]) => tooComplex(limit, value, maximum));
}

function ownDirectives({ directives, variableDefinitions }: OperationDefinitionNode): number {
  let count = directives?.length ?? 0;
  for (const definition of variableDefinitions ?? []) count += definition.directives?.length ?? 0;
  return count;
}

/** Checks what needs unfolded fragments; by now they are known to be small. */
function unfoldedErrors(
  operations: readonly OperationDefinitionNode[],
  fragments: Fragments,
  schema: GraphQLSchema,
): GraphQLError[] {
  const errors = worstOfEach(operations, (one) => mutationErrors(one, fragments, schema));
  let pairs = 0;
  for (const { selectionSet } of operations) pairs += repeatedPairs(selectionSet, fragments);
  for (const { selectionSet } of fragments.values()) {
    // Validation compares a fragment's own selections even where no operation uses it.
    pairs = Math.max(pairs, repeatedPairs(selectionSet, fragments));
  }
  if (pairs > MAX_REPEATED_PAIRS) {
    errors.push(tooComplex('repeated fields', pairs, MAX_REPEATED_PAIRS));
  }
  return errors;
}

function mutationErrors(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  schema: GraphQLSchema,
): GraphQLError[] {
  if (operation !== 'mutation') return [];
  const counts = new Map<string, number>();
  let fields = 0;
  unfold(selectionSet, fragments, ({ kind, name }) => {
    if (kind !== Kind.FIELD) return;
    fields += 1;
    counts.set(name.value, (counts.get(name.value) ?? 0) + 1);
  });
  const errors: GraphQLError[] = [];
  if (fields > MAX_MUTATION_FIELDS) {
    errors.push(tooComplex('mutation fields', fields, MAX_MUTATION_FIELDS));
  }
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const count = counts.get(field.name) ?? 0;
    const most = traitOf(field, 'mostSelected') ?? Infinity;
    if (count > most) errors.push(tooComplex(`${field.name} fields`, count, most));
  }
  return errors;
}
