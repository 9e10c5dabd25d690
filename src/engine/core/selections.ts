import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { memo } from '../../lib/caches.ts';

/** Reads a value of a document: a literal, or the value of a variable; undefined if the variable is not known. */
export type ReadValue = (node: ValueNode) => unknown;

export type Field = GraphQLField<unknown, unknown>;
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export class Selections {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.schema = schema;
    this.fragments = fragmentsOf(document);
  }

  /**
   * Collects the fields that are selected on an object, which has one of the types. They are listed by response key, in the
   * same sequence as by graphql-js. A field whose condition is an unknown variable is included. `onFragment` is called with
   * each fragment on the way.
   */
  collect(
    types: readonly GraphQLObjectType[],
    parents: readonly (OperationDefinitionNode | FieldNode)[],
    read: ReadValue,
    onFragment: (fragment: FragmentSpreadNode | InlineFragmentNode) => void = () => {},
  ): ReadonlyMap<string, readonly FieldNode[]> {
    const fields = new Map<string, FieldNode[]>();
    // Repeating a fragment adds nothing to the answer.
    const visited = new Set<string>();
    const enter = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        if (isLeftOut(selection.directives, read)) continue;
        if (selection.kind === Kind.FIELD) {
          memo(fields, responseKey(selection), (): FieldNode[] => []).push(selection);
          continue;
        }
        onFragment(selection);
        const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
        const fragment = isSpread ? this.fragments.get(selection.name.value) : selection;
        if (!fragment || !this.#applies(types, fragment.typeCondition?.name.value)) continue;
        if (isSpread) {
          if (visited.has(selection.name.value)) continue;
          visited.add(selection.name.value);
        }
        enter(fragment.selectionSet);
      }
    };
    for (const { selectionSet } of parents) if (selectionSet) enter(selectionSet);
    return fields;
  }

  #applies(types: readonly GraphQLObjectType[], condition: string | undefined): boolean {
    if (condition === undefined) return true;
    const wanted = this.schema.getType(condition);
    return types.some(
      (type) => type === wanted || (isAbstractType(wanted) && this.schema.isSubType(wanted, type)),
    );
  }
}

/** Returns the value of an integer, boolean, null or list. Other literals and the entries of lists stay nodes, unread. */
export function literalOf(node: ValueNode): unknown {
  if (node.kind === Kind.INT) return Number(node.value);
  if (node.kind === Kind.BOOLEAN) return node.value;
  if (node.kind === Kind.LIST) return node.values;
  return node.kind === Kind.NULL ? null : node;
}

/** Identifies a list by the place of its first field in the text, because copies of a document have other nodes. */
export function listKey([node]: readonly FieldNode[]): number {
  return node?.loc?.start ?? -1;
}

export function responseKey({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

function isLeftOut(directives: readonly DirectiveNode[] = [], read: ReadValue): boolean {
  return directives.some((directive) => {
    const flag = flagOf(directive);
    if (flag === null) return false;
    // `@skip` leaves a field out if its flag is true, `@include` if its flag is false.
    const leavesOutIf = directive.name.value === 'skip';
    return read(flag) === leavesOutIf;
  });
}

/** The value of `if` in a `@skip` or an `@include`. */
function flagOf({ name, arguments: given = [] }: DirectiveNode): ValueNode | null {
  const isFlag = name.value === 'skip' || name.value === 'include';
  return isFlag ? (given[0]?.value ?? null) : null;
}
