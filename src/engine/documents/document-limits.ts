import {
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { traitOf } from '../../lib/field-traits.ts';
import { located, tooComplex } from '../operation/request-error.ts';
import { type Fragments, fragmentsOf } from './selections.ts';

export interface DocumentLimits {
  readonly maxTokens: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

const MAX_VARIABLES = 100;
const MAX_MUTATION_FIELDS = 5;
// It bounds the checks of all operations together: a few fragments that spread each other unfold to millions.
const MAX_SELECTIONS = 10_000;

/** Checks the operations of a document with their fragments unfolded. Each limit is reported once. */
export function limitErrors(
  document: DocumentNode,
  limits: DocumentLimits,
  schema: GraphQLSchema,
): readonly GraphQLError[] {
  const operations = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  const fragments = fragmentsOf(document);
  const errors = new Map<string, GraphQLError>();
  let selections = 0;
  for (const operation of operations) {
    const size = new UnfoldedSize(operation, fragments, selections);
    selections = size.selections;
    for (const [limit, value, maximum] of measured(operation, size, limits, schema)) {
      if (value <= maximum || errors.has(limit)) continue;
      const error = tooComplex(limit, value, maximum);
      errors.set(limit, operations.length > 1 ? located(error, { nodes: [operation] }) : error);
    }
  }
  return [...errors.values()];
}

type Measured = readonly [limit: Parameters<typeof tooComplex>[0], value: number, maximum: number];

function measured(
  operation: OperationDefinitionNode,
  { depth, aliases, directives, rootFields, selections }: UnfoldedSize,
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
    ['selections', selections, MAX_SELECTIONS],
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

/** The size of an operation with its fragments unfolded. */
class UnfoldedSize {
  depth = 0;
  aliases = 0;
  directives = 0;
  readonly rootFields = new Map<string, number>();
  /** The selections of this operation and of those before it; counting stops at the limit. */
  selections: number;
  readonly #fragments: Fragments;
  /** The fragments around a selection: validation reports one that leads back to itself. */
  readonly #open = new Set<string>();

  constructor(operation: OperationDefinitionNode, fragments: Fragments, selectionsBefore: number) {
    this.#fragments = fragments;
    this.selections = selectionsBefore;
    this.#add(operation.selectionSet, 1);
  }

  #add({ selections }: SelectionSetNode, depth: number): void {
    for (const selection of selections) {
      if (this.selections > MAX_SELECTIONS) return;
      this.selections += 1;
      this.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) this.#addField(selection, depth);
      else if (selection.kind === Kind.INLINE_FRAGMENT) this.#add(selection.selectionSet, depth);
      else this.#addSpread(selection.name.value, depth);
    }
  }

  #addField({ alias, name, selectionSet }: FieldNode, depth: number): void {
    this.depth = Math.max(this.depth, depth);
    this.aliases += alias ? 1 : 0;
    if (depth === 1) this.rootFields.set(name.value, (this.rootFields.get(name.value) ?? 0) + 1);
    if (selectionSet) this.#add(selectionSet, depth + 1);
  }

  #addSpread(name: string, depth: number): void {
    const fragment = this.#fragments.get(name);
    if (!fragment || this.#open.has(name)) return;
    this.#open.add(name);
    this.#add(fragment.selectionSet, depth);
    this.#open.delete(name);
  }
}
