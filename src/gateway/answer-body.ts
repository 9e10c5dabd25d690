import type { Answer } from './exchange.ts';
import { type GatewayRefusal, toRefusal } from './wire/bodies.ts';

/** The body as JSON; undefined where it is none. A page of HTML with status 200 is not an answer. */
export function jsonOf(answer: Answer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isJsonContent(answer.headers['content-type'])) return undefined;
  try {
    return parse(answer.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const BRACKETS = 0x7b;
// `[` becomes `{`, and nothing else does.
const TO_BRACES = 0x20;
const COLON = 0x3a;
// The largest answers have rows of some hundred bytes, and some dozen names in each.
const MAX_BRACKETS = 200_000;
const NAMES_PER_BRACKET = 64;

/** Whether to parse a body would hold the event loop for a second: it has more lists, objects or names than any answer. */
export function isLongToParse(bytes: Buffer): boolean {
  // A smaller one cannot hold as many.
  if (bytes.length <= MAX_BRACKETS) return false;
  let brackets = 0;
  let names = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if ((byte | TO_BRACES) === BRACKETS) brackets += 1;
    else if (byte === COLON) names += 1;
  }
  return brackets > MAX_BRACKETS || names > MAX_BRACKETS + brackets * NAMES_PER_BRACKET;
}

export function isJsonContent(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  return /^\s*[\w.+-]+\/([\w.+-]+\+)?json\b/i.test(type);
}

export function refusalOf(answer: Answer): GatewayRefusal {
  return toRefusal(jsonOf(answer));
}

/** Whether it has an error body of the interface; without one the gateway may not even have sent it. */
export function hasErrorBody(answer: Answer): boolean {
  const { error, message } = refusalOf(answer);
  return error !== null || message !== null;
}
