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

/** Describes an operation whose results may be shared: a query's by a group of users, a subscription's by its account. */
export interface SharedUse {
  /** The operation selects what differs between copies of one version, such as age: its body is not cached. */
  readonly selectsTime: boolean;
  /** True once a run has read more than the marks of its fields allow: no result of it is shared any more. */
  isBarred: boolean;
}

/**
 * Null where a result is never shared: a selected field is not marked as a group's, of a subscription as the account's,
 * or variables affect what an event contains.
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

/** The subscription's own arguments select events, and change nothing in them. */
function usesVariablesInEvents(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): boolean {
  const roots = operation.selectionSet.selections.map((root) => ({ ...root, arguments: [] }));
  return roots.some(usesVariables) || memo(variablesInFragments, document, fragmentsUseVariables);
}

// A document may have hundreds of subscriptions. Its fragments are searched once, not for each of them.
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
