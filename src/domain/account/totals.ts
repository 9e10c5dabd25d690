import type { Position } from '../../gateway/operations/holdings.ts';

export type PositionTotals = Readonly<ReturnType<typeof totalsOf>>;

/** Exact sums of the gateway's figures. A sum is null if a position lacks the figure, because a partial sum is no total. */
export function totalsOf(positions: readonly Position[]) {
  return {
    count: positions.length,
    invested: total(positions.map(({ invested }) => invested)),
    profit: total(positions.map(({ profit }) => profit)),
  };
}

function total(figures: readonly (number | null)[]): number | null {
  if (!figures.every((figure) => figure !== null)) return null;
  const sum = exactSum(figures);
  // A larger sum is not exact as a double.
  return sum !== null && Math.abs(sum) <= Number.MAX_SAFE_INTEGER ? sum : null;
}

/** The sum of decimals without rounding errors: 0.1 and 0.2 make 0.3. Null if a figure is not finite, or the sum overflows. */
export function exactSum(figures: readonly number[]): number | null {
  // One sum per power of ten, so that 1e300 and 1e-300 do not need 600 digits each.
  const sums = new Map<number, bigint>();
  const add = (digits: bigint, exponent: number) =>
    sums.set(exponent, (sums.get(exponent) ?? 0n) + digits);
  for (const figure of figures) {
    const scaled = Math.round(figure * UNIT);
    // Two decimals of at most 15 digits are never the same double, so `scaled` has exactly the figure's digits.
    if (Math.abs(scaled) < TEN_TO_15 && scaled / UNIT === figure) {
      add(BigInt(scaled), -UNIT_DIGITS);
    } else {
      const [, whole, fraction = '', e = '0'] = DIGITS.exec(String(figure)) ?? [];
      if (whole === undefined) return null;
      add(BigInt(whole + fraction), Number(e) - fraction.length);
    }
  }
  if (sums.size === 0) return 0;
  const lowest = Math.min(...sums.keys());
  let total = 0n;
  for (const [exponent, digits] of sums) total += digits * 10n ** BigInt(exponent - lowest);
  const sum = Number(`${total}e${lowest}`);
  return Number.isFinite(sum) ? sum : null;
}

// Money rarely has more decimals. A figure with more is converted to text and back.
const UNIT_DIGITS = 6;
const UNIT = 10 ** UNIT_DIGITS;
const TEN_TO_15 = 1e15;
const DIGITS = /^(-?\d+)(?:\.(\d+))?(?:e(.+))?$/;
