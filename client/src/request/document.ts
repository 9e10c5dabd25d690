import type { Operation } from '../operation.ts';
import { print } from './print.ts';

/** A document, or the id of a trusted one, as a request names it. */
export type RequestedDocument = { readonly query: string } | { readonly documentId: string };

/** The parameters of a request that name its document. */
export function requestedDocument<Data, Variables>(
  operation: Operation<Data, Variables>,
): RequestedDocument {
  if (typeof operation === 'string') return { query: operation };
  if ('documentId' in operation) return { documentId: operation.documentId };
  return { query: operation.loc?.source.body ?? print(operation) };
}

/** Whether the document can be a mutation; that of an id cannot be known. */
export function mayMutate(document: RequestedDocument): boolean {
  if ('documentId' in document) return true;
  const text = document.query.replace(/"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#.*/g, ' ');
  let depth = 0;
  for (const [token] of text.matchAll(/[{}]|\w+/g)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    else if (depth === 0 && token === 'mutation') return true;
  }
  return false;
}
