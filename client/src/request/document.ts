import type { DocumentNode } from 'graphql';
import { HARMLESS_MUTATIONS } from '../generated/harmless-mutations.ts';
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

/** Whether the document can be a mutation; that of an id cannot be known. */
export function mayMutate(document: RequestedDocument): boolean {
  return 'documentId' in document || mutationsOf(document.query).length > 0;
}

/** Whether the schema says of all that its mutations do that repeating it does no harm. */
export function isHarmless(document: RequestedDocument): boolean {
  if ('documentId' in document) return false;
  return mutationsOf(document.query).every(
    (fields) => fields.length > 0 && fields.every((name) => HARMLESS_MUTATIONS.includes(name)),
  );
}

/** Returns the outermost selection of each mutation as texts: directives and spreads too, but no aliases. */
function mutationsOf(query: string): readonly (readonly string[])[] {
  const bare = query.replace(/"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n])*"|#.*/g, ' ');
  const text = bare.replace(/\([^()]*\)/g, ' ');
  const found: string[][] = [];
  let depth = 0;
  let current: string[] | null = null;
  for (const [token] of text.matchAll(/[{}]|\.{3}|\w+(?:\s*:)?/g)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    else if (depth === 1 && !token.endsWith(':')) current?.push(token);
    else if (depth === 0 && KINDS.has(token)) {
      current = token === 'mutation' ? [] : null;
      if (current !== null) found.push(current);
    }
  }
  return found;
}

const KINDS = new Set(['query', 'mutation', 'subscription', 'fragment']);
