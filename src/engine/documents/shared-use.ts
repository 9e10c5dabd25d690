import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import type { Sharing } from '../../lib/field-traits.ts';
import { memo } from '../../lib/memo.ts';

/** How an operation's results may be shared: a query's by a group of users, a subscription's by its account. */
export interface SharedUse {
  /** Whether it selects fields that differ between copies of one version, such as age. Then its body is not cached. */
  readonly selectsTime: boolean;
  /** True after a run has read more than the marks of its fields allow. No further result is shared then. */
  isBarred: boolean;
}

/**
 * Returns null if a result must not be shared: a field of a query is not marked as the group's, a field of a subscription
 * is not marked as the account's, or variables affect the content of an event.
 */
export function sharedUseOf(
  marks: ReadonlySet<Sharing> | null,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): SharedUse | null {
  if (operation.operation === OperationTypeNode.MUTATION) return null;
  // An operation without marks selects only `__typename` of the root, which has no version.
  if (marks === null || marks.size === 0) return null;
  const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
  const isOfOthers = isSubscription
    ? marks.size > 1 || !marks.has('account')
    : marks.has('account');
  if (isOfOthers || (isSubscription && usesVariablesInEvents(document, operation))) return null;
  return { selectsTime: marks.has('copy'), isBarred: false };
}

/** The arguments of the subscription's own field are ignored: they select events, and change nothing in them. */
function usesVariablesInEvents(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): boolean {
  const roots = operation.selectionSet.selections.map((root) => ({ ...root, arguments: [] }));
  return roots.some(usesVariables) || memo(variablesInFragments, document, fragmentsUseVariables);
}

// A document may have hundreds of subscriptions, so its fragments are searched only once.
const variablesInFragments = new WeakMap<DocumentNode, boolean>();

function fragmentsUseVariables({ definitions }: DocumentNode): boolean {
  return definitions.some((one) => one.kind === Kind.FRAGMENT_DEFINITION && usesVariables(one));
}

/** Whether a node of a document uses any variable. */
export function usesVariables(node: ASTNode): boolean {
  let uses = false;
  visit(node, {
    Variable() {
      uses = true;
      return BREAK;
    },
  });
  return uses;
}
