import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'graphql';
import { memo } from '../../lib/memo.ts';
import { both, type Condition, type Fixed } from './amount.ts';
import type { ReadValue } from './document-values.ts';

/** Five times the limit of selections, because the fields of an abstract type are followed for each of its possible types. */
export const MAX_FOLLOWED = 50_000;

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** An operation or a field. Its selections count if the condition is true. */
export interface Selecting {
  readonly node: OperationDefinitionNode | FieldNode;
  readonly when: Condition;
}

/** One of the selections that merge into the same field of the answer. */
export interface SelectedField extends Selecting {
  readonly node: FieldNode;
}

export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

export function responseKey({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

/** Reads the selections of a document that has passed validation. */
export class Selections {
  readonly schema: GraphQLSchema;
  /** The variables in `@skip` and `@include` of all operations. */
  readonly flagNames: ReadonlySet<string>;
  /** The number of selections that have been followed so far. */
  followed = 0;
  readonly #fragments: Fragments;

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.schema = schema;
    this.flagNames = flagNamesIn(document);
    this.#fragments = fragmentsOf(document);
  }

  /** Collects the fields by response key, in the order of the answer, which equals the reference executor's. */
  collect(
    type: GraphQLObjectType,
    from: readonly Selecting[],
    read: ReadValue,
  ): ReadonlyMap<string, readonly SelectedField[]> {
    const fields = new Map<string, SelectedField[]>();
    // Fragments that were entered without a condition: repeating them adds nothing to the answer.
    const visited = new Set<string>();
    const enter = (set: SelectionSetNode, around: Condition): void => {
      this.followed += set.selections.length;
      for (const selection of set.selections) {
        const when = both(around, conditionOf(selection.directives, read));
        if (when === false) continue;
        if (selection.kind === Kind.FIELD) {
          const same = memo(fields, responseKey(selection), (): SelectedField[] => []);
          same.push({ node: selection, when });
          continue;
        }
        const fragment = resolved(selection, this.#fragments);
        if (!fragment || !this.#applies(type, fragment.typeCondition?.name.value)) continue;
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          if (visited.has(selection.name.value)) continue;
          if (when === true) visited.add(selection.name.value);
        }
        enter(fragment.selectionSet, when);
      }
    };
    for (const { node, when } of from) if (node.selectionSet) enter(node.selectionSet, when);
    return fields;
  }

  #applies(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const wanted = this.schema.getType(condition);
    return isAbstractType(wanted) && this.schema.isSubType(wanted, type);
  }
}

function resolved(selection: FragmentSpreadNode | InlineFragmentNode, fragments: Fragments) {
  return selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
}

function flagNamesIn(document: DocumentNode): Set<string> {
  const names = new Set<string>();
  visit(document, {
    [Kind.DIRECTIVE](directive) {
      const value = flagOf(directive);
      if (value?.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return names;
}

function conditionOf(directives: readonly DirectiveNode[] = [], read: ReadValue): Condition {
  let condition: Condition = true;
  for (const directive of directives) {
    const flag = flagOf(directive);
    if (flag) condition = both(condition, equals(read(flag), directive.name.value === 'include'));
  }
  return condition;
}

function equals(value: Fixed<unknown>, wanted: boolean): Condition {
  return typeof value === 'function' ? (inputs) => value(inputs) === wanted : value === wanted;
}

/** The value of `if` in a `@skip` or an `@include`. */
function flagOf({ name, arguments: given = [] }: DirectiveNode): ValueNode | null {
  const isFlag = name.value === 'skip' || name.value === 'include';
  return isFlag ? (given[0]?.value ?? null) : null;
}
