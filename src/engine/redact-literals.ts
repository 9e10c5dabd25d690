import { type DocumentNode, Kind, visit } from 'graphql';
import { redact } from '../lib/redact.ts';

const STRUCK = '[…]';
// Shorter texts are words of the language as often as they are secrets.
const SHORTEST_SECRET = 3;

// Messages quote values whole: a few kilobytes of them, in each of some errors, would be megabytes.
const LONGEST_MESSAGE = 500;
// What JSON and GraphQL write otherwise than it is.
const ESCAPED = /["\\\p{C}]/u;

/** A password with a typo around it must not come back in the message about the typo. */
export function redactTexts(message: string, texts: Iterable<string>): string {
  let struck = shortened(message);
  const { length } = struck;
  const found = [...texts].filter(
    (text) => text.length >= SHORTEST_SECRET && text.length <= length && mayHold(struck, text),
  );
  // Longest first: a short text inside a long one would leave the rest of it standing.
  for (const text of found.sort((a, b) => b.length - a.length)) {
    struck = struck.replaceAll(text, STRUCK);
    // Messages quote what they found in the language's own notation.
    struck = struck.replaceAll(notation(text), STRUCK);
  }
  return redact(struck);
}

/** The value that makes a message long comes last in it. */
function shortened(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  const value = message.search(/(?:, found)?: *\n? *["[{]/);
  return value >= 0 && value < LONGEST_MESSAGE
    ? `${message.slice(0, value)}.`
    : 'What is wrong is too long to be quoted.';
}

function mayHold(message: string, text: string): boolean {
  return message.includes(text) || (ESCAPED.test(text) && message.includes(notation(text)));
}

function notation(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * A text that cannot even be parsed is quoted by the parser, at most as one token. Where a quote is
 * missing or one too many, parts of a password are names and numbers to it.
 */
export function redactSyntax(message: string): string {
  return redact(message.replace(/\b(Name|Int|Float|String|BlockString) ".*"/s, `$1 ${STRUCK}`));
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
    [Kind.FLOAT]({ value }) {
      texts.add(value);
    },
    // A password without its quotes reads as an enum's value.
    [Kind.ENUM]({ value }) {
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
    else if (typeof next === 'object' && next !== null) {
      // One by one: as arguments of one call, a long list would not fit onto the stack.
      for (const inner of Object.values(next)) pending.push(inner);
    }
  }
  return texts;
}
