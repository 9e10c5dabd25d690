import type { DocumentNode } from 'graphql';
import type { Operation } from '../operation.ts';
import { unsendable } from './finite-variables.ts';
import { print } from './print.ts';

/** A document, or the id of a trusted one, as a request names it. */
export type RequestedDocument = { readonly query: string } | { readonly documentId: string };

/** The parameters of a request that name its document. */
export function requestedDocument<Data, Variables>(
  operation: Operation<Data, Variables>,
): RequestedDocument {
  if (typeof operation === 'string') return { query: operation };
  const { documentId, definitions }: { documentId?: string; definitions?: unknown } =
    Object(operation);
  if (documentId !== undefined) return { documentId };
  if (Array.isArray(definitions)) return { query: print(operation as DocumentNode) };
  throw unsendable('operation', 'is a text, a document or { documentId }');
}

/** Whether the document can be a mutation. An id may name any document, so the answer for an id is true. */
export function mayMutate(document: RequestedDocument): boolean {
  if ('documentId' in document) return true;
  // Texts, comments and arguments are removed, because they may contain braces or the word `mutation`.
  const bare = document.query.replace(
    /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n])*"|#.*|\([^()]*\)/g,
    ' ',
  );
  let depth = 0;
  for (const [token] of bare.matchAll(/[{}]|\w+/g)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    else if (depth === 0 && token === 'mutation') return true;
  }
  return false;
}
