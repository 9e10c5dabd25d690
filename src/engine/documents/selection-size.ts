import { Kind, type SelectionNode, type SelectionSetNode, type ValueNode } from 'graphql';
import { type Fragments, responseKey, unfold } from './selections.ts';

/** The size of a selection with its fragments unfolded. */
export interface SelectionSize {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** The number of selections and of uses of variables. */
  readonly selections: number;
}

const NOTHING: SelectionSize = { depth: 0, aliases: 0, directives: 0, selections: 0 };

/** Measures each fragment once: a chain of them that doubles at every step is counted without being walked. */
export class SelectionMeasure {
  readonly #fragments: Fragments;
  readonly #known = new Map<string, SelectionSize>();
  readonly #open = new Set<string>();
  /** The fragment that spreads itself; once it is set, the measured sizes are meaningless. */
  circular: string | null = null;

  constructor(fragments: Fragments) {
    this.#fragments = fragments;
  }

  of({ selections }: SelectionSetNode): SelectionSize {
    let depth = 0;
    let aliases = 0;
    let directives = 0;
    let count = selections.length;
    for (const selection of selections) {
      const inner = this.#inside(selection);
      const isField = selection.kind === Kind.FIELD;
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0));
      aliases += inner.aliases + (isField && selection.alias ? 1 : 0);
      directives += inner.directives + (selection.directives?.length ?? 0);
      count += inner.selections + variablesOf(selection);
    }
    return { depth, aliases, directives, selections: count };
  }

  #inside(selection: SelectionNode): SelectionSize {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value);
    return selection.selectionSet ? this.of(selection.selectionSet) : NOTHING;
  }

  #fragment(name: string): SelectionSize {
    const before = this.#known.get(name);
    if (before) return before;
    const fragment = this.#fragments.get(name);
    if (!fragment) return NOTHING;
    if (this.#open.has(name)) {
      this.circular = name;
      return NOTHING;
    }
    this.#open.add(name);
    const size = this.of(fragment.selectionSet);
    this.#open.delete(name);
    this.#known.set(name, size);
    return size;
  }
}

function variablesOf(selection: SelectionNode): number {
  let count = 0;
  const ofField = selection.kind === Kind.FIELD ? selection.arguments : [];
  for (const { value } of ofField ?? []) count += variablesIn(value);
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

interface Place {
  times: number;
  inner: Places | null;
}

type Places = Map<string, Place>;

/**
 * Counts the pairs of selections at one place, which validation compares: a field repeated a thousand times costs half a
 * million. Fragments are unfolded, so they must be acyclic and few.
 */
export function repeatedPairs(selectionSet: SelectionSetNode, fragments: Fragments): number {
  let pairs = 0;

  const enter = (inside: SelectionSetNode, places: Places): void =>
    unfold(inside, fragments, (selection) => {
      const isField = selection.kind === Kind.FIELD;
      // Validation compares fragments pairwise like fields, even where they have none in common.
      const key = isField ? responseKey(selection) : '...';
      const place = places.get(key) ?? { times: 0, inner: null };
      places.set(key, place);
      pairs += place.times;
      place.times += 1;
      if (!isField || !selection.selectionSet) return;
      place.inner ??= new Map();
      enter(selection.selectionSet, place.inner);
    });

  enter(selectionSet, new Map());
  return pairs;
}
