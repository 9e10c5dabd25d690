import type { Encoding } from '../lib/pack.ts';

// Each matches its name without a weight, or with one above 0.
const BROTLI = /(?:^|,)\s*br\s*(?:,|$|;\s*q=(?:[1-9]|0?\.\d*[1-9]))/i;
const GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:[1-9]|0?\.\d*[1-9]))/i;

/** The better compression of the two that an `Accept-Encoding` allows. */
export function preferredEncoding(accepted: string | string[] | undefined): Encoding | null {
  if (accepted === undefined) return null;
  const text = String(accepted);
  if (BROTLI.test(text)) return 'br';
  return GZIP.test(text) ? 'gzip' : null;
}
