import { type DocumentNode, visit } from 'graphql';
import { REDACTED, redact } from '../../lib/redact.ts';

// Shorter texts are as often words of GraphQL as secrets.
const MIN_SECRET_LENGTH = 3;

// Messages quote whole values: a few kilobytes in each of several errors would become megabytes.
const MAX_MESSAGE_LENGTH = 500;

/** Redacts the values that a message quotes, such as a password in an input with a typo. */
export function redactTexts(message: string, texts: Iterable<string>): string {
  let redacted = shortened(message);
  const isQuoted = (text: string) =>
    text.length >= MIN_SECRET_LENGTH &&
    (redacted.includes(text) || redacted.includes(notation(text)));
  const found = [...texts].filter(isQuoted);
  // The longest text is first: redacting a substring first would leave the rest of a longer secret.
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
    : 'The invalid value is too long to quote.';
}

function notation(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Redacts the token that a syntax error quotes: after a misplaced quotation mark the parts of a password parse as names. */
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

// Enough for any form. Further texts of an attacker are not secrets.
const MAX_TEXTS = 500;

export function textsIn(value: unknown): Set<string> {
  const texts = new Set<string>();
  const pending: unknown[] = [value];
  while (pending.length > 0 && texts.size < MAX_TEXTS) {
    const next = pending.pop();
    if (typeof next === 'string') texts.add(next);
    else if (typeof next === 'number') texts.add(String(next));
    else if (typeof next === 'object' && next !== null) {
      // A loop, because spreading a long list into the arguments of one call would overflow the stack.
      for (const inner of Object.values(next)) pending.push(inner);
    }
  }
  return texts;
}
