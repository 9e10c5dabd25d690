/** Figures in the account's currency, which the gateway does not name beside them. */
export const money = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

export const gain = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
});

export const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 8 });

export function price(value: number, digits: number | null | undefined): string {
  return value.toLocaleString('en', {
    minimumFractionDigits: digits ?? 2,
    maximumFractionDigits: digits ?? 2,
  });
}

export function trend(value: number | null | undefined): string {
  if (value == null || value === 0) return '';
  return value > 0 ? 'up' : 'down';
}
