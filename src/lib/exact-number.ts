/**
 * True where the double that a JSON or GraphQL number is parsed into has the same decimal value
 * when written back. Otherwise an infinite amount would be sent as null, and a long one as its
 * neighbour.
 */
export function isExactNumber(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && decimalOf(text) === decimalOf(String(number));
}

/** A canonical form of the decimal value: its digits without outer zeros, and the exponent. */
function decimalOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let from = 0;
  let to = digits.length;
  // A loop, because a regular expression for trailing zeros takes quadratic time.
  while (from < to && digits[from] === '0') from += 1;
  while (to > from && digits[to - 1] === '0') to -= 1;
  if (from === to) return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - to);
  // The sign survives any conversion, except that of zero, which changes no value.
  return `${digits.slice(from, to)}e${scale}`;
}
