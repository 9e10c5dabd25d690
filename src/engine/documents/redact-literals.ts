import { type DocumentNode, visit } from 'graphql';
import { redact } from '../../lib/redact.ts';

const REDACTED = '[…]';
// Shorter texts are words of the language as often as they are secrets.
const MIN_SECRET_LENGTH = 3;

// Messages quote values whole: a few kilobytes in each of several errors would be megabytes.
const MAX_MESSAGE_LENGTH = 500;
// Characters that JSON and GraphQL escape.
const ESCAPED = /["\\\p{C}]/u;

/** Redacts values that a message quotes, such as a password in an input with a typo. */
export function redactTexts(message: string, texts: Iterable<string>): string {
  let redacted = shortened(message);
  const { length } = redacted;
  const found = [...texts].filter(
    (text) => text.length >= MIN_SECRET_LENGTH && text.length <= length && mayHold(redacted, text),
  );
  // Longest first: redacting a substring first would leave the rest of a longer secret.
  for (const text of found.sort((a, b) => b.length - a.length)) {
    redacted = redacted.replaceAll(text, REDACTED);
    // Messages quote texts in escaped form as well.
    redacted = redacted.replaceAll(notation(text), REDACTED);
  }
  return redact(redacted);
}

/** Drops the quoted value at the end of a long message. */
function shortened(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  const value = message.search(/(?:, found)?: *\n? *["[{]/);
  return value >= 0 && value < MAX_MESSAGE_LENGTH
    ? `${message.slice(0, value)}.`
    : 'What is wrong is too long to be quoted.';
}

function mayHold(message: string, text: string): boolean {
  return message.includes(text) || (ESCAPED.test(text) && message.includes(notation(text)));
}

function notation(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Redacts a syntax error, which quotes one token: with a quotation mark amiss it takes a password's parts for names. */
export function redactSyntax(message: string): string {
  return redact(message.replace(/\b(Name|Int|Float|String|BlockString) ".*"/s, `$1 ${REDACTED}`));
}

export function literalsOf(document: DocumentNode): Set<string> {
  const texts = new Set<string>();
  const add = ({ value }: { readonly value: string }) => {
    texts.add(value);
  };
  // A password without its quotation marks parses as an enum value.
  visit(document, { StringValue: add, IntValue: add, FloatValue: add, EnumValue: add });
  return texts;
}

// They are enough for any form; what an attacker adds beyond it is no secret.
const MAX_TEXTS = 500;

export function textsIn(value: unknown): Set<string> {
  const texts = new Set<string>();
  const pending: unknown[] = [value];
  while (pending.length > 0 && texts.size < MAX_TEXTS) {
    const next = pending.pop();
    if (typeof next === 'string') texts.add(next);
    else if (typeof next === 'number') texts.add(String(next));
    else if (typeof next === 'object' && next !== null) {
      // A loop, because a long list as the arguments of one call would overflow the stack.
      for (const inner of Object.values(next)) pending.push(inner);
    }
  }
  return texts;
}
