/** Rounds half away from zero to this number of decimals, without binary representation errors. */
export function round(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  const scaled = Math.abs(value) * scale;
  // A number above 2^53 has no decimals to round.
  if (scaled > Number.MAX_SAFE_INTEGER) return value;
  // The factor makes up for a product such as 1.005 × 100, which is a little below 100.5.
  const whole = Math.round(scaled * (1 + Number.EPSILON));
  const rounded = (Math.sign(value) * whole) / scale;
  // Turns -0 into 0.
  return rounded === 0 ? 0 : rounded;
}

/** US dollars and cents: the currency of every sandbox account. */
export function cents(value: number): number {
  return round(value, 2);
}
