import type { DocumentNode } from 'graphql';

/** A document with the types of its data and variables, as code generators make it; structurally `TypedDocumentNode`. */
export interface TypedDocument<Data, Variables> extends DocumentNode {
  readonly __apiType?: (variables: Variables) => Data;
}

/** A document that is sent by its id, from a manifest of trusted documents. */
export interface TrustedDocument<Data, Variables> {
  readonly documentId: string;
  readonly __apiType?: (variables: Variables) => Data;
}

/** Text with the types of its data and variables. */
export type TypedText<Data, Variables = unknown> = string & {
  readonly __apiType?: (variables: Variables) => Data;
};

/** An operation that the client can execute. */
export type Operation<Data, Variables> =
  | TypedText<Data, Variables>
  | TypedDocument<Data, Variables>
  | TrustedDocument<Data, Variables>;
