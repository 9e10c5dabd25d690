import {
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { traitOf } from '../../lib/field-traits.ts';
import { memo } from '../../lib/memo.ts';
import { located, requestError, tooComplex } from '../operation/request-error.ts';
import { redactTexts } from './redact-literals.ts';
import { type Fragments, fragmentsOf, responseKey } from './selections.ts';

export interface DocumentLimits {
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

/** Checks a document with its fragments unfolded, before validation, which a hostile one can make expensive. */
export function limitErrors(
  document: DocumentNode,
  limits: DocumentLimits,
  schema: GraphQLSchema,
): readonly GraphQLError[] {
  const operations = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (operations.length > MAX_OPERATIONS) {
    return [tooComplex('operations', operations.length, MAX_OPERATIONS)];
  }
  const fragments = fragmentsOf(document);
  const size = new UnfoldedSize(fragments);
  const errors = new Map<string, GraphQLError>();
  // Validation walks fragments as well, even where no operation uses them.
  for (const definition of [...operations, ...fragments.values()]) {
    const isOperation = definition.kind === Kind.OPERATION_DEFINITION;
    if (!isOperation && size.has(definition.name.value)) continue;
    size.measure(definition.selectionSet);
    // Validation reports cycles too, but its other rules must not run on such fragments.
    if (size.cycle !== null) return [cyclic(size.cycle)];
    for (const [limit, value, maximum] of isOperation
      ? measured(definition, size, limits, schema)
      : []) {
      if (value <= maximum || errors.has(limit)) continue;
      const error = tooComplex(limit, value, maximum);
      errors.set(limit, operations.length > 1 ? located(error, { nodes: [definition] }) : error);
    }
  }
  const { selections, repeatedPairs } = size;
  if (selections > MAX_SELECTIONS) {
    errors.set('selections', tooComplex('selections', selections, MAX_SELECTIONS));
  } else if (repeatedPairs > MAX_REPEATED_PAIRS) {
    errors.set('', tooComplex('repeated fields', repeatedPairs, MAX_REPEATED_PAIRS));
  }
  return [...errors.values()];
}

type Measured = readonly [limit: Parameters<typeof tooComplex>[0], value: number, maximum: number];

function measured(
  operation: OperationDefinitionNode,
  { depth, aliases, directives, rootFields }: UnfoldedSize,
  limits: DocumentLimits,
  schema: GraphQLSchema,
): readonly Measured[] {
  const { directives: own = [], variableDefinitions: variables = [] } = operation;
  const ofVariables = variables.flatMap(({ directives: each = [] }) => each);
  return [
    ['variables', variables.length, MAX_VARIABLES],
    ['MAX_DEPTH', depth, limits.maxDepth],
    ['MAX_ALIASES', aliases, limits.maxAliases],
    ['MAX_DIRECTIVES', directives + own.length + ofVariables.length, limits.maxDirectives],
    ...(operation.operation === 'mutation' ? mutationFields(rootFields, schema) : []),
  ];
}

function mutationFields(
  rootFields: ReadonlyMap<string, number>,
  schema: GraphQLSchema,
): readonly Measured[] {
  const all = [...rootFields.values()].reduce((total, count) => total + count, 0);
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return [
    ['mutation fields', all, MAX_MUTATION_FIELDS],
    ...fields.map((field) => {
      const count = rootFields.get(field.name) ?? 0;
      return [`${field.name} fields`, count, traitOf(field, 'mostSelected') ?? Infinity] as const;
    }),
  ];
}

/** A name may be as long as the body. */
function cyclic(fragment: string): GraphQLError {
  const message = redactTexts(`Fragment "${fragment}" leads back to itself.`, []);
  return requestError('GRAPHQL_VALIDATION_FAILED', message);
}

interface Place {
  times: number;
  inner: Places | null;
}

/** The selections at one place of the answer, by response keys. All fragment spreads are under '...'. */
type Places = Map<string, Place>;

/** Measures selections with their fragments unfolded, one definition after the other. It stops at the most selections. */
class UnfoldedSize {
  /** The size of the last definition. */
  depth = 0;
  aliases = 0;
  directives = 0;
  rootFields = new Map<string, number>();
  /** The selections and the uses of variables of all definitions. */
  selections = 0;
  /** The pairs of selections at one place, which validation compares: a field repeated a thousand times has half a million. */
  repeatedPairs = 0;
  /** A fragment that spreads itself. */
  cycle: string | null = null;
  readonly #fragments: Fragments;
  readonly #open = new Set<string>();
  readonly #seen = new Set<string>();
  /** The uses of variables, which are counted again with each spread of a fragment. */
  readonly #variables = new Map<SelectionNode, number>();

  constructor(fragments: Fragments) {
    this.#fragments = fragments;
  }

  /** Whether a fragment was part of a definition measured before. */
  has(fragment: string): boolean {
    return this.#seen.has(fragment);
  }

  measure(selectionSet: SelectionSetNode): void {
    this.depth = 0;
    this.aliases = 0;
    this.directives = 0;
    this.rootFields = new Map();
    this.#add(selectionSet, 1, new Map());
  }

  #add({ selections }: SelectionSetNode, depth: number, places: Places): void {
    for (const selection of selections) {
      if (this.selections > MAX_SELECTIONS || this.cycle !== null) return;
      this.selections += 1 + memo(this.#variables, selection, variablesOf);
      this.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) this.#addField(selection, depth, places);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        this.#add(selection.selectionSet, depth, places);
      else this.#addSpread(selection.name.value, depth, places);
    }
  }

  #addField(field: FieldNode, depth: number, places: Places): void {
    const { alias, name, selectionSet } = field;
    this.depth = Math.max(this.depth, depth);
    this.aliases += alias ? 1 : 0;
    if (depth === 1) this.rootFields.set(name.value, (this.rootFields.get(name.value) ?? 0) + 1);
    const place = this.#placed(responseKey(field), places);
    if (!selectionSet) return;
    place.inner ??= new Map();
    this.#add(selectionSet, depth + 1, place.inner);
  }

  #addSpread(name: string, depth: number, places: Places): void {
    // Validation compares fragments pairwise like fields, even where they have none in common.
    this.#placed('...', places);
    const fragment = this.#fragments.get(name);
    if (!fragment) return;
    if (this.#open.has(name)) {
      this.cycle = name;
      return;
    }
    this.#open.add(name);
    this.#seen.add(name);
    this.#add(fragment.selectionSet, depth, places);
    this.#open.delete(name);
  }

  #placed(key: string, places: Places): Place {
    const place = memo(places, key, (): Place => ({ times: 0, inner: null }));
    this.repeatedPairs += place.times;
    place.times += 1;
    return place;
  }
}

function variablesOf(selection: SelectionNode): number {
  let count = 0;
  const own = selection.kind === Kind.FIELD ? selection.arguments : [];
  for (const { value } of own ?? []) count += variablesIn(value);
  for (const directive of selection.directives ?? [])
    for (const { value } of directive.arguments ?? []) count += variablesIn(value);
  return count;
}

function variablesIn(value: ValueNode): number {
  if (value.kind === Kind.VARIABLE) return 1;
  let count = 0;
  if (value.kind === Kind.LIST) for (const item of value.values) count += variablesIn(item);
  if (value.kind === Kind.OBJECT)
    for (const field of value.fields) count += variablesIn(field.value);
  return count;
}
