const STRUCK = '[…]';

const BEARER = /\b(bearer|basic)\s+[^\s"',;]+/gi;
const JWT = /\beyJ[\w-]+(?:\.[\w-]*){1,4}/g;
// Bounded parts keep the search linear on a text of any length.
const EMAIL =
  /[\p{L}\p{N}._%+'-]{1,64}(?:@|%40)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,8}/giu;
// Wallet addresses, keys and opaque tokens: long, and letters and digits mixed.
const OPAQUE = /[\w-]{24,}/g;
const DIALLED = /\+\p{Nd}[\p{Nd} ().-]{5,24}\p{Nd}/gu;
const GROUPED = /\b\p{Nd}{2,5}([ -])\p{Nd}{2,5}(?:\1\p{Nd}{2,5}){1,6}\b/gu;
const DIGITS = /\p{Nd}{6,}/gu;
// As many digits as a telephone number has, and more than a date.
const LEAST_GROUPED_DIGITS = 9;

/** Strikes tokens out of a text. */
export function redactTokens(text: string): string {
  return text.replace(BEARER, `$1 ${STRUCK}`).replace(JWT, STRUCK);
}

/**
 * Strikes whatever may point at a person or open an account out of a free text that the gateway
 * wrote: e-mails, digit runs, tokens. The words around them stay, since users are shown them.
 */
export function redact(text: string): string {
  return redactTokens(text)
    .replace(EMAIL, STRUCK)
    .replace(OPAQUE, (run) => (/\d/.test(run) && /[a-z]/i.test(run) ? STRUCK : run))
    .replace(DIALLED, STRUCK)
    .replace(GROUPED, (run) => (countDigits(run) >= LEAST_GROUPED_DIGITS ? STRUCK : run))
    .replace(DIGITS, STRUCK);
}

function countDigits(text: string): number {
  return text.match(/\p{Nd}/gu)?.length ?? 0;
}
