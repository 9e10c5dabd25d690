/**
 * Whether a number survives: the double that a JSON or GraphQL number is read into, written back, has
 * the same decimal value. An amount that is not finite would be sent as null, and a long one as its
 * neighbour.
 */
export function isExactNumber(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && decimalOf(text) === decimalOf(String(number));
}

/** A name of the decimal value: its digits from the first to the last that is not 0, and their exponent. */
function decimalOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let from = 0;
  let to = digits.length;
  // By hand: an expression that looks for zeros at the end takes the square of their number.
  while (from < to && digits[from] === '0') from += 1;
  while (to > from && digits[to - 1] === '0') to -= 1;
  if (from === to) return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - to);
  // The sign comes through any conversion, but for zero's, which changes no value.
  return `${digits.slice(from, to)}e${scale}`;
}
