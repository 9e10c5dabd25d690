const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const oneDecimal = new Intl.NumberFormat('en', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const cents = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;
const money = new Intl.NumberFormat('en', cents);
const signedMoney = new Intl.NumberFormat('en', { ...cents, signDisplay: 'exceptZero' });
const units = new Intl.NumberFormat('en', { maximumFractionDigits: 8 });
const time = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hour12: false });

const NONE = '–';

/** An amount without a currency: the gateway names none for most of its figures. */
export function formatMoney(amount: number | null | undefined): string {
  return amount == null ? NONE : money.format(amount);
}

export function formatProfit(amount: number | null | undefined): string {
  return amount == null ? NONE : signedMoney.format(amount).replace('-', '−');
}

/** The CSS class of a profit's colour; empty for zero and for no profit. */
export function toneOf(profit: number | null | undefined): string {
  if (!profit) return '';
  return profit < 0 ? 'loss' : 'profit';
}

export function formatUnits(amount: number | null): string {
  return amount === null ? NONE : units.format(amount);
}

export function formatPrice(price: number | null, digits: number | null): string {
  const places = digits ?? 2;
  const bounds = { minimumFractionDigits: places, maximumFractionDigits: places };
  return price?.toLocaleString('en', bounds) ?? NONE;
}

export function formatMs(ms: number): string {
  if (ms >= 1_000) return `${oneDecimal.format(ms / 1_000)} s`;
  return ms < 10 ? `${oneDecimal.format(ms)} ms` : `${whole.format(ms)} ms`;
}

export function formatBytes(bytes: number): string {
  return bytes < 1_000 ? `${whole.format(bytes)} B` : `${oneDecimal.format(bytes / 1_000)} kB`;
}

export function formatCount(count: number): string {
  return whole.format(count);
}

export function formatTime(date: Date | null): string {
  return date === null ? NONE : time.format(date);
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
