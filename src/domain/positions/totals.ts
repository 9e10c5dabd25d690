import type { Position } from '../../gateway/model.ts';

export type PositionTotals = Readonly<ReturnType<typeof totalsOf>>;

/** Exact sums of the gateway's figures; null where a position lacks one, since a partial sum is no total. */
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
  // Beyond it the nearest double is the sum's neighbour.
  return sum !== null && Math.abs(sum) <= Number.MAX_SAFE_INTEGER ? sum : null;
}

/**
 * The sum of decimal figures by their own digits, as the double nearest to it: 0.1 and 0.2 are 0.3. Null where
 * a figure is not finite, or the sum is beyond a double.
 */
export function exactSum(figures: readonly number[]): number | null {
  let units = 0;
  let rest: Map<number, bigint> | null = null;
  for (const figure of figures) {
    const scaled = Math.round(figure * UNIT);
    // Two decimals of at most 15 digits are never the same double, so this one has the figure's own digits.
    if (Math.abs(scaled) < TEN_TO_15 && scaled / UNIT === figure) {
      if (!Number.isSafeInteger(units + scaled)) {
        rest = add(rest, -UNIT_DIGITS, BigInt(units));
        units = 0;
      }
      units += scaled;
    } else if (Number.isFinite(figure)) {
      rest = addDigits(rest, figure);
    } else {
      return null;
    }
  }
  // Both are whole numbers that a double holds, so that the quotient is the nearest double.
  if (rest === null) return units / UNIT;
  return nearestDouble(add(rest, -UNIT_DIGITS, BigInt(units)));
}

// Money has rarely more decimals; a figure with more costs a conversion to text and back.
const UNIT_DIGITS = 6;
const UNIT = 10 ** UNIT_DIGITS;
const TEN_TO_15 = 1e15;

type SumsByExponent = Map<number, bigint>;

/** One sum for each power of ten: figures of 1e300 and 1e-300 cost no 600 digits each. */
function add(sums: SumsByExponent | null, exponent: number, digits: bigint): SumsByExponent {
  const into = sums ?? new Map<number, bigint>();
  into.set(exponent, (into.get(exponent) ?? 0n) + digits);
  return into;
}

function addDigits(sums: SumsByExponent | null, figure: number): SumsByExponent {
  const text = String(figure);
  const e = text.indexOf('e');
  const mantissa = e < 0 ? text : text.slice(0, e);
  const dot = mantissa.indexOf('.');
  const exponent = e < 0 ? 0 : Number(text.slice(e + 1));
  if (dot < 0) return add(sums, exponent, BigInt(mantissa));
  const digits = mantissa.slice(0, dot) + mantissa.slice(dot + 1);
  return add(sums, exponent - (digits.length - dot), BigInt(digits));
}

function nearestDouble(sums: SumsByExponent): number | null {
  const lowest = Math.min(...sums.keys());
  let total = 0n;
  for (const [exponent, digits] of sums) total += digits * 10n ** BigInt(exponent - lowest);
  const sum = Number(`${total}e${lowest}`);
  return Number.isFinite(sum) ? sum : null;
}
