import {
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { marksOf } from '../sharing-marks.ts';

/** What is known of an operation that reads nothing but the catalog. */
export interface CatalogUse {
  /** Selects what one version's copies differ in, such as its age: its answers cannot be held. */
  readonly selectsTime: boolean;
}

/** Null where a field is selected that is not marked as the catalog's: then nothing keeps the answer. */
export function catalogUseOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CatalogUse | null {
  if (operation.operation !== OperationTypeNode.QUERY) return null;
  const marks = marksOf(schema, document, operation);
  // Without any there is nothing but the root's own name, and no version to speak of.
  if (marks === null || marks.size === 0 || marks.has('account')) return null;
  return { selectsTime: marks.has('copy') };
}
