import { type DocumentNode, Kind, visit } from 'graphql';
import { strikeOut } from '../lib/redact.ts';

const STRUCK = '[…]';
// Shorter texts are words of the language as often as they are secrets.
const SHORTEST_SECRET = 3;

/** A password with a typo around it must not come back in the message about the typo. */
export function strikeTexts(message: string, texts: Iterable<string>): string {
  let struck = message;
  for (const text of texts) {
    if (text.length < SHORTEST_SECRET) continue;
    struck = struck.replaceAll(text, STRUCK);
    // Messages quote what they found in the language's own notation.
    struck = struck.replaceAll(JSON.stringify(text).slice(1, -1), STRUCK);
  }
  return strikeOut(struck);
}

/** A text that cannot even be parsed is quoted by the parser, at most as one token. */
export function strikeSyntax(message: string): string {
  return strikeOut(message.replace(/((?:Block)?String) ".*"/s, `$1 ${STRUCK}`));
}

export function literalsOf(document: DocumentNode): Set<string> {
  const texts = new Set<string>();
  visit(document, {
    [Kind.STRING]({ value }) {
      texts.add(value);
    },
    [Kind.INT]({ value }) {
      texts.add(value);
    },
  });
  return texts;
}

// Enough for any form; what an attacker adds beyond it are not somebody's secrets.
const MOST_TEXTS = 500;

export function textsIn(value: unknown, texts = new Set<string>()): Set<string> {
  const pending: unknown[] = [value];
  while (pending.length > 0 && texts.size < MOST_TEXTS) {
    const next = pending.pop();
    if (typeof next === 'string') texts.add(next);
    else if (typeof next === 'number') texts.add(String(next));
    else if (typeof next === 'object' && next !== null) pending.push(...Object.values(next));
  }
  return texts;
}
