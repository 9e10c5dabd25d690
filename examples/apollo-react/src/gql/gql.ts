/* eslint-disable */
import * as types from './graphql';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  query Search($text: String!) {\n    instruments(first: 6, filter: { search: $text }) {\n      nodes { id symbol name }\n    }\n  }\n": typeof types.SearchDocument,
    "\n  mutation SignIn($input: LoginInput!) {\n    login(input: $input) {\n      __typename\n      ... on LoginSuccess { accessToken }\n      ... on LoginRejected { message }\n    }\n  }\n": typeof types.SignInDocument,
    "\n  query Positions {\n    positions { id symbol name side units priceCurrent digits profit }\n  }\n": typeof types.PositionsDocument,
    "\n  subscription PositionChanges($after: String) {\n    positionChanges(after: $after, intervalMs: 500) {\n      cursor snapshot closed status asOf\n      upserted { id symbol name side units priceCurrent digits profit }\n      ticks { id priceCurrent profit }\n      totals { count invested profit }\n    }\n  }\n": typeof types.PositionChangesDocument,
};
const documents: Documents = {
    "\n  query Search($text: String!) {\n    instruments(first: 6, filter: { search: $text }) {\n      nodes { id symbol name }\n    }\n  }\n": types.SearchDocument,
    "\n  mutation SignIn($input: LoginInput!) {\n    login(input: $input) {\n      __typename\n      ... on LoginSuccess { accessToken }\n      ... on LoginRejected { message }\n    }\n  }\n": types.SignInDocument,
    "\n  query Positions {\n    positions { id symbol name side units priceCurrent digits profit }\n  }\n": types.PositionsDocument,
    "\n  subscription PositionChanges($after: String) {\n    positionChanges(after: $after, intervalMs: 500) {\n      cursor snapshot closed status asOf\n      upserted { id symbol name side units priceCurrent digits profit }\n      ticks { id priceCurrent profit }\n      totals { count invested profit }\n    }\n  }\n": types.PositionChangesDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Search($text: String!) {\n    instruments(first: 6, filter: { search: $text }) {\n      nodes { id symbol name }\n    }\n  }\n"): (typeof documents)["\n  query Search($text: String!) {\n    instruments(first: 6, filter: { search: $text }) {\n      nodes { id symbol name }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation SignIn($input: LoginInput!) {\n    login(input: $input) {\n      __typename\n      ... on LoginSuccess { accessToken }\n      ... on LoginRejected { message }\n    }\n  }\n"): (typeof documents)["\n  mutation SignIn($input: LoginInput!) {\n    login(input: $input) {\n      __typename\n      ... on LoginSuccess { accessToken }\n      ... on LoginRejected { message }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Positions {\n    positions { id symbol name side units priceCurrent digits profit }\n  }\n"): (typeof documents)["\n  query Positions {\n    positions { id symbol name side units priceCurrent digits profit }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription PositionChanges($after: String) {\n    positionChanges(after: $after, intervalMs: 500) {\n      cursor snapshot closed status asOf\n      upserted { id symbol name side units priceCurrent digits profit }\n      ticks { id priceCurrent profit }\n      totals { count invested profit }\n    }\n  }\n"): (typeof documents)["\n  subscription PositionChanges($after: String) {\n    positionChanges(after: $after, intervalMs: 500) {\n      cursor snapshot closed status asOf\n      upserted { id symbol name side units priceCurrent digits profit }\n      ticks { id priceCurrent profit }\n      totals { count invested profit }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;