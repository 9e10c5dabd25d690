import {
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { marksOf } from '../sharing-marks.ts';

/** Describes an operation that reads nothing but the catalog. */
export interface CatalogUse {
  /**
   * The operation selects what differs between copies of one version, such as age: its body is not
   * cached.
   */
  readonly selectsTime: boolean;
}

/** Null where a selected field is not marked as the catalog's: such a response is never cached. */
export function catalogUseOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CatalogUse | null {
  if (operation.operation !== OperationTypeNode.QUERY) return null;
  const marks = marksOf(schema, document, operation);
  // An operation without marks selects only `__typename` of the root, which has no version.
  if (marks === null || marks.size === 0 || marks.has('account')) return null;
  return { selectsTime: marks.has('copy') };
}
