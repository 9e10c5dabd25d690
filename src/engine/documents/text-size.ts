import { Lexer, Source, TokenKind } from 'graphql';

export interface TextSize {
  /** The count stops at one more than the limit. */
  readonly tokens: number;
  /** The depth to which brackets are nested. */
  readonly nesting: number;
}

const OPENING: ReadonlySet<string> = new Set([
  TokenKind.BRACE_L,
  TokenKind.BRACKET_L,
  TokenKind.PAREN_L,
]);
const CLOSING: ReadonlySet<string> = new Set([
  TokenKind.BRACE_R,
  TokenKind.BRACKET_R,
  TokenKind.PAREN_R,
]);

/**
 * Measures a text before it is parsed. Parser and validation recurse for each level of brackets, so
 * a few kilobytes of them would overflow the stack before any limit on the document is checked.
 */
export function sizeOfText(text: string, maxTokens: number): TextSize {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let depth = 0;
  let nesting = 0;
  try {
    while (tokens <= maxTokens) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) break;
      tokens += 1;
      if (OPENING.has(kind)) depth += 1;
      else if (CLOSING.has(kind)) depth -= 1;
      nesting = Math.max(nesting, depth);
    }
  } catch {
    // The parser stops at an unreadable token as well, and reports it.
  }
  return { tokens, nesting };
}
