export const WINDOWS = 16;

/** The columns of a Hadamard matrix, some of them inverted, by which every window has three to seven of nine units. */
const COLUMNS = [-2, 9, 11, -3, 12, -13, 10, -6, -14];

/** Whether a unit comes in a window: each in half of them, and any two as often together as apart. */
export function comes(unit: number, window: number): boolean {
  const column = COLUMNS[unit] ?? 0;
  const ones = (Math.abs(column) & window).toString(2).replaceAll('0', '').length;
  return (ones % 2 === 1) !== column < 0;
}

/** The difference between the windows with the unit and those without, in which all other units cancel out. */
export function contrast(unit: number, values: readonly number[]): number {
  return values.reduce((sum, value, window) => sum + (comes(unit, window) ? value : -value), 0);
}
