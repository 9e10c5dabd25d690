/** Rounds half away from zero to this number of decimals, without binary representation errors. */
export function round(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  const scaled = Math.abs(value) * scale;
  // A number above 2^53 has no decimals to round.
  if (scaled > Number.MAX_SAFE_INTEGER) return value;
  const rounded = (Math.sign(value) * Math.round(scaled * (1 + Number.EPSILON))) / scale;
  return rounded === 0 ? 0 : rounded;
}

/** US dollars and cents: the currency of every sandbox account. */
export function cents(value: number): number {
  return round(value, 2);
}
