import {
  type DocumentNode,
  type ExecutableDefinitionNode,
  type GraphQLError,
  isExecutableDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { traitOf } from '../../lib/field-traits.ts';
import { located, tooComplex } from '../operation/request-error.ts';
import { literalOf, responseKey, type Selections } from './selections.ts';

export interface DocumentLimits {
  readonly maxTokens: number;
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

const MAX_VARIABLES = 100;
const MAX_MUTATION_FIELDS = 5;
/** In all definitions together. A few fragments that spread each other expand to millions of selections. */
const MAX_SELECTIONS = 10_000;
/** Validation compares each pair of selections with the same name. */
const MAX_REPEATED_PAIRS = 10_000;

/**
 * Checks each operation with its fragments expanded, and each fragment alone, because validation checks unused fragments
 * too. Each limit is reported once.
 */
export function limitErrors(
  { definitions }: DocumentNode,
  limits: DocumentLimits,
  selections: Selections,
): readonly GraphQLError[] {
  const errors = new Map<string, GraphQLError>();
  const sizes = new ExpandedSizes(selections);
  let total = 0;
  for (const node of definitions) {
    if (!isExecutableDefinitionNode(node)) continue;
    const size = sizes.of(node.selectionSet);
    total += size.selections;
    for (const [limit, value, maximum] of measured(
      node,
      { ...size, selections: total },
      limits,
      selections,
    )) {
      if (value <= maximum || errors.has(limit)) continue;
      const error = tooComplex(limit, value, maximum);
      errors.set(limit, definitions.length > 1 ? located(error, { nodes: [node] }) : error);
    }
  }
  return [...errors.values()];
}

type Measured = readonly [limit: Parameters<typeof tooComplex>[0], value: number, maximum: number];

function measured(
  node: ExecutableDefinitionNode,
  size: Size,
  limits: DocumentLimits,
  selections: Selections,
): readonly Measured[] {
  const { directives: own = [], variableDefinitions: variables = [] } = node;
  const ofVariables = variables.flatMap(({ directives: each = [] }) => each);
  const directives = size.directives + own.length + ofVariables.length;
  return [
    ['variables', variables.length, MAX_VARIABLES],
    ['MAX_DEPTH', size.depth, limits.maxDepth],
    ['MAX_ALIASES', size.aliases, limits.maxAliases],
    ['MAX_DIRECTIVES', directives, limits.maxDirectives],
    ['selections', size.selections, MAX_SELECTIONS],
    ['repeated fields', size.repeatedPairs, MAX_REPEATED_PAIRS],
    ...mutationFields(node, selections),
  ];
}

function mutationFields(
  node: ExecutableDefinitionNode,
  selections: Selections,
): readonly Measured[] {
  const type = selections.schema.getMutationType();
  if (!('operation' in node) || node.operation !== 'mutation' || !type) return [];
  const selected = [...selections.collect(type, [node], literalOf).values()];
  return [
    ['mutation fields', selected.length, MAX_MUTATION_FIELDS],
    ...Object.values(type.getFields()).map((field): Measured => {
      const same = selected.filter(([first]) => first?.name.value === field.name);
      return [`${field.name} fields`, same.length, traitOf(field, 'mostSelected') ?? Infinity];
    }),
  ];
}

/** The size of a selection set with its fragments expanded. */
interface Size {
  depth: number;
  aliases: number;
  directives: number;
  selections: number;
  /** The pairs of selections with the same name in one selection set. */
  repeatedPairs: number;
}

const NOTHING: Size = { depth: 0, aliases: 0, directives: 0, selections: 0, repeatedPairs: 0 };

/** Measures each fragment once, however often it is spread. */
class ExpandedSizes {
  readonly #selections: Selections;
  readonly #ofFragments = new Map<string, Size>();

  constructor(selections: Selections) {
    this.#selections = selections;
  }

  of({ selections }: SelectionSetNode): Size {
    const size = { ...NOTHING, selections: selections.length };
    const times = new Map<string, number>();
    for (const selection of selections) {
      const inner = this.#inside(selection);
      const isField = selection.kind === Kind.FIELD;
      // Validation compares fragments pairwise, like fields.
      const name = isField ? responseKey(selection) : '...';
      const before = times.get(name) ?? 0;
      times.set(name, before + 1);
      size.repeatedPairs += before + inner.repeatedPairs;
      size.depth = Math.max(size.depth, inner.depth + (isField ? 1 : 0));
      size.aliases += inner.aliases + (isField && selection.alias ? 1 : 0);
      size.directives += inner.directives + (selection.directives?.length ?? 0);
      size.selections += inner.selections;
    }
    return size;
  }

  #inside(selection: SelectionNode): Size {
    if (selection.kind !== Kind.FRAGMENT_SPREAD) {
      return selection.selectionSet ? this.of(selection.selectionSet) : NOTHING;
    }
    const name = selection.name.value;
    const known = this.#ofFragments.get(name);
    if (known) return known;
    // A fragment that leads back to itself adds nothing, because validation reports it.
    this.#ofFragments.set(name, NOTHING);
    const fragment = this.#selections.fragments.get(name);
    const size = fragment ? this.of(fragment.selectionSet) : NOTHING;
    this.#ofFragments.set(name, size);
    return size;
  }
}
