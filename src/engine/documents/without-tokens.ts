import type { ASTNode, DocumentNode, Location } from 'graphql';

type Parent = Record<string, unknown> & { loc?: Location };

/**
 * Frees the tokens that the parser links to every node: a prepared document weighs a third less
 * without them. Errors need the positions alone.
 */
export function withoutTokens(document: DocumentNode): DocumentNode {
  strip(document);
  return document;
}

function strip(node: ASTNode): void {
  const parent = node as unknown as Parent;
  if (parent.loc) {
    const { start, end, source } = parent.loc;
    parent.loc = { start, end, source } as Location;
  }
  for (const key in parent) {
    const child = parent[key];
    if (key === 'loc' || typeof child !== 'object' || child === null) continue;
    if (!Array.isArray(child)) strip(child as ASTNode);
    else for (const each of child) strip(each as ASTNode);
  }
}
