import { OperationTypeNode } from 'graphql';
import type { Sharing } from '../../lib/field-traits.ts';

/** How an operation's results may be shared: a query's by a group of users, a subscription's by its account. */
export interface SharedUse {
  /** Whether fields differ between copies of one version, such as the age. The body is not cached then. */
  readonly selectsTime: boolean;
  /** True after a run has read more than the marks of its fields allow. No further result is shared then. */
  isBarred: boolean;
}

/**
 * Decides by the marks of the selected fields: a mark says who sees the same value. Returns null if a result must not be
 * shared: a field of a query is the account's, a field of a subscription is not, or variables affect an event's content.
 */
export function sharedUseOf(
  type: OperationTypeNode,
  marks: ReadonlySet<Sharing>,
  variesByVariables: boolean,
): SharedUse | null {
  // An operation without marks selects only `__typename` of the root, which has no version.
  if (type === OperationTypeNode.MUTATION || marks.size === 0) return null;
  const isOfAccountAlone = marks.size === 1 && marks.has('account');
  const isShared =
    type === OperationTypeNode.SUBSCRIPTION
      ? isOfAccountAlone && !variesByVariables
      : !marks.has('account');
  return isShared ? { selectsTime: marks.has('copy'), isBarred: false } : null;
}
