const AMOUNT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const SIGNED = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
});
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

// The gateway may leave out any figure; a missing one is not shown as zero.
const NONE = '–';

export function amount(value: number | null | undefined): string {
  return value == null ? NONE : AMOUNT.format(value);
}

/** Profit with its sign, because not every user can tell the colours apart. */
export function signed(value: number | null | undefined): string {
  return value == null ? NONE : SIGNED.format(value);
}

export function price(value: number | null, digits: number | null): string {
  if (value === null) return NONE;
  return value.toLocaleString(undefined, {
    minimumFractionDigits: digits ?? 2,
    maximumFractionDigits: digits ?? 2,
  });
}

export function time(date: Date): string {
  return TIME.format(date);
}

export function tone(value: number | null | undefined): 'gain' | 'loss' | 'even' {
  if (value == null || value === 0) return 'even';
  return value > 0 ? 'gain' : 'loss';
}
