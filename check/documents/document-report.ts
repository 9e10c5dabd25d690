import type { GraphQLSchema, SourceLocation } from 'graphql';
import type { Documents, SizeOf } from '../../engine/index.ts';
import { costRange } from './cost-range.ts';
import { schemaUseOf } from './schema-use.ts';

/** The server's judgement of a document before anybody sends it. */
export type DocumentReport = ValidDocument | InvalidDocument;

export interface ValidDocument {
  readonly id: string;
  readonly valid: true;
  readonly operations: readonly OperationReport[];
  /** Coordinates of what is deprecated, with the reason. */
  readonly deprecated: Readonly<Record<string, string>>;
  readonly fields: ReadonlySet<string>;
}

export interface OperationReport {
  readonly name: string | null;
  readonly type: string;
  readonly cost: number;
  /** With the largest pages that variables may ask for. */
  readonly mostCost: number;
}

export interface InvalidDocument {
  readonly id: string;
  readonly valid: false;
  readonly errors: readonly DocumentError[];
}

export interface DocumentError {
  readonly code: string;
  readonly message: string;
  readonly locations: readonly SourceLocation[];
}

export interface ReportOptions {
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  /** How long the lists are, which the cost of documents depends on. */
  readonly sizeOf: SizeOf;
}

export function reportOn(
  id: string,
  text: string,
  { schema, documents, sizeOf }: ReportOptions,
): DocumentReport {
  const prepared = documents.prepare(text);
  if (prepared.kind === 'invalid') {
    const errors = prepared.errors.map(({ message, extensions, locations }) => ({
      code: String(extensions.code),
      message,
      locations: locations ?? [],
    }));
    return { id, valid: false, errors };
  }
  const { document, operations } = prepared;
  const { fields, deprecated } = schemaUseOf(schema, document);
  return {
    id,
    valid: true,
    operations: [...operations].map(([name, operation]) => {
      const { usual, most } = costRange(document, operation, sizeOf);
      return { name, type: operation.node.operation, cost: usual, mostCost: most };
    }),
    deprecated: Object.fromEntries(deprecated),
    fields,
  };
}
