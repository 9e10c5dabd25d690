import {
  type DocumentNode,
  type FragmentSpreadNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type VariableValues,
  visit,
} from 'graphql';

/** A fragment of a query's root that may follow the rest of the answer, as an operation of its own. */
export interface DeferredFragment {
  readonly label: string | null;
  readonly node: OperationDefinitionNode;
  readonly fragment: FragmentSpreadNode | InlineFragmentNode;
  /** The variable that decides whether it is deferred; null where it always is. */
  readonly variable: string | null;
}

/** A query that is split: what is left of it, which is nothing where all of it is deferred, and its deferred fragments. */
export interface SplitQuery {
  readonly rest: OperationDefinitionNode | null;
  readonly fragments: readonly DeferredFragment[];
}

// Each is executed by itself.
const MAX_FRAGMENTS = 8;

/** The document without `@defer` and `@stream`, which their proposal allows a server to ignore. */
export function withoutIncremental(document: DocumentNode): DocumentNode {
  return visit(document, {
    Directive: ({ name }) => (/^(?:defer|stream)$/.test(name.value) ? null : undefined),
  });
}

/** Splits a query at the deferred fragments of its root; null where it is answered in one piece. */
export function splitQuery(
  original: OperationDefinitionNode,
  plain: OperationDefinitionNode,
): SplitQuery | null {
  if (original.operation !== OperationTypeNode.QUERY) return null;
  const fragments: DeferredFragment[] = [];
  const rest = plain.selectionSet.selections.filter((selection, at) => {
    const before = original.selectionSet.selections[at];
    const deferred =
      before === undefined || selection.kind === Kind.FIELD
        ? null
        : deferredFragment(before as typeof selection, selection, plain);
    if (deferred !== null) fragments.push(deferred);
    return deferred === null;
  });
  if (fragments.length === 0 || fragments.length > MAX_FRAGMENTS) return null;
  return { rest: rest.length === 0 ? null : withSelections(plain, rest), fragments };
}

/** The split query with the fragments that are deferred for these variables; null where the answer is to be in one piece. */
export function partsNow<Split extends { readonly fragments: readonly DeferredFragment[] }>(
  split: Split | null,
  values: VariableValues,
): Split | null {
  if (split === null) return null;
  const isWhole = split.fragments.some(
    ({ variable }) => variable !== null && values.coerced[variable] === false,
  );
  const fragments = split.fragments.filter(({ fragment }) => isIncluded(fragment, values));
  return isWhole || fragments.length === 0 ? null : { ...split, fragments };
}

function deferredFragment(
  { directives = [] }: FragmentSpreadNode | InlineFragmentNode,
  fragment: FragmentSpreadNode | InlineFragmentNode,
  plain: OperationDefinitionNode,
): DeferredFragment | null {
  const directive = directives.find(({ name }) => name.value === 'defer');
  if (directive === undefined) return null;
  const argument = (name: string) =>
    directive.arguments?.find((each) => each.name.value === name)?.value;
  const condition = argument('if');
  if (condition?.kind === Kind.BOOLEAN && !condition.value) return null;
  const label = argument('label');
  return {
    label: label?.kind === Kind.STRING ? label.value : null,
    node: withSelections(plain, [fragment]),
    fragment,
    variable: condition?.kind === Kind.VARIABLE ? condition.name.value : null,
  };
}

function withSelections(
  operation: OperationDefinitionNode,
  selections: OperationDefinitionNode['selectionSet']['selections'],
): OperationDefinitionNode {
  return { ...operation, selectionSet: { ...operation.selectionSet, selections } };
}

function isIncluded(
  fragment: FragmentSpreadNode | InlineFragmentNode,
  values: VariableValues,
): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, fragment, values)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, fragment, values)?.if !== false;
}
