import { OperationTypeNode } from 'graphql';
import type { Sharing } from '../../lib/field-traits.ts';

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
  type: OperationTypeNode,
  marks: ReadonlySet<Sharing>,
  variesByVariables: boolean,
): SharedUse | null {
  // An operation without marks selects only `__typename` of the root, which has no version.
  if (type === OperationTypeNode.MUTATION || marks.size === 0) return null;
  const isShared =
    type === OperationTypeNode.SUBSCRIPTION
      ? marks.size === 1 && marks.has('account') && !variesByVariables
      : !marks.has('account');
  return isShared ? { selectsTime: marks.has('copy'), isBarred: false } : null;
}
