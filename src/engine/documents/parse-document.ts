import { GraphQLError, Lexer, parse, Source, TokenKind } from 'graphql';
import { withoutStack } from '../../lib/public-error.ts';
import { located, requestError, tooComplex } from '../operation/errors.ts';
import { redactSyntax } from './redact-literals.ts';

// Far more than any person or tool writes, and far less than the stack can hold.
const MAX_NESTING = 500;

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

/** Parses a text within the limits, or returns an error. */
export function parseDocument(text: string, maxTokens: number) {
  const { tokens, nesting } = sizeOf(text, maxTokens);
  const invalid = (error: GraphQLError) => ({ kind: 'invalid', errors: [error], tokens }) as const;
  if (tokens > maxTokens) return invalid(tooComplex('MAX_TOKENS', tokens, maxTokens));
  if (nesting > MAX_NESTING) return invalid(tooComplex('nesting', nesting, MAX_NESTING));
  try {
    return { kind: 'document', document: withoutStack(() => parse(text)), tokens } as const;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const message = redactSyntax(error.message);
    return invalid(located(requestError('GRAPHQL_PARSE_FAILED', message), error));
  }
}

/**
 * Measures a text before the parser and validation recurse into its brackets: a few kilobytes of brackets would overflow
 * the stack. Tokens are counted up to one over the limit. If there are more lines than tokens, lines count, because the
 * library reads them for every error.
 */
function sizeOf(text: string, maxTokens: number) {
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
  return { tokens: Math.max(tokens, lexer.line), nesting };
}
