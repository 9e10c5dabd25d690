export const REDACTED = '[…]';

const BEARER = /\b(bearer|basic)\s+[^\s"',;]+/gi;
const JWT = /\beyJ[\w-]+(?:\.[\w-]*){1,4}/g;
// Bounded parts keep the search linear in the length of the text.
const EMAIL =
  /[\p{L}\p{N}._%+'-]{1,64}(?:@|%40)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,8}/giu;
// Wallet addresses, keys and opaque tokens are long, and mix letters with digits.
const OPAQUE = /[\w-]{24,}/g;
const DIALLED = /\+\p{Nd}[\p{Nd} ().-]{5,24}\p{Nd}/gu;
const GROUPED = /\b\p{Nd}{2,5}([ -])\p{Nd}{2,5}(?:\1\p{Nd}{2,5}){1,6}\b/gu;
const DIGITS = /\p{Nd}{6,}/gu;
// A telephone number has at least nine digits; a date has fewer.
const LONG_NUMBER = /(?:\p{Nd}[ -]?){9}/u;

/** Redacts bearer tokens and JWTs. */
export function redactTokens(text: string): string {
  return text.replace(BEARER, `$1 ${REDACTED}`).replace(JWT, REDACTED);
}

/** Redacts e-mail addresses, runs of digits and tokens in a text from the gateway. Users see the words around them. */
export function redact(text: string): string {
  return redactTokens(text)
    .replace(EMAIL, REDACTED)
    .replace(OPAQUE, (run) => (/\d/.test(run) && /[a-z]/i.test(run) ? REDACTED : run))
    .replace(DIALLED, REDACTED)
    .replace(GROUPED, (run) => (LONG_NUMBER.test(run) ? REDACTED : run))
    .replace(DIGITS, REDACTED);
}
