import { Lexer, Source, TokenKind } from 'graphql';

export interface TextSize {
  /** Counted up to one more than are allowed. */
  readonly tokens: number;
  /** How deep brackets stand in each other. */
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
 * Measures a text before it is parsed. Parser and validation call themselves for each level of
 * brackets, so that a few kilobytes of them would run out of stack before any limit on the document
 * could be looked at.
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
    // Where no token can be read the parser stops as well, and says so.
  }
  return { tokens, nesting };
}
