import { type ASTNode, type DocumentNode, Kind, visit } from 'graphql';

/**
 * The document without `@defer` and `@stream`: their proposal lets a server answer in one piece, and no answer here has a
 * part that is worth a second one (docs/decisions/no-defer.md).
 */
export function withoutIncremental(document: DocumentNode, text: string): DocumentNode {
  if (!/@\s*(?:defer|stream)\b/.test(text)) return document;
  const plain = (node: ASTNode) =>
    node.kind === Kind.DIRECTIVE && /^(?:defer|stream)$/.test(node.name.value) ? null : undefined;
  return visit(document, { enter: plain });
}
