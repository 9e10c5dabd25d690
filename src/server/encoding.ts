import { LRUCache } from 'lru-cache';
import type { Encoding } from '../lib/pack.ts';

// Clients send the same few values over and over; a long one is not worth memoizing.
const REMEMBERED = 100;
const LONGEST_REMEMBERED = 200;

const preferred = new LRUCache<string, { readonly encoding: Encoding | null }>({ max: REMEMBERED });

/** The better compression of the two that the client accepts with a weight other than 0. */
export function preferredEncoding(accepted: string | string[] | undefined): Encoding | null {
  if (accepted === undefined) return null;
  const text = String(accepted);
  const known = preferred.get(text);
  if (known) return known.encoding;
  const encoding = read(text);
  if (text.length <= LONGEST_REMEMBERED) preferred.set(text, { encoding });
  return encoding;
}

function read(text: string): Encoding | null {
  const weights = new Map<string, number>();
  for (const part of text.split(',')) {
    const [name = '', ...parameters] = part.split(';');
    const weight = parameters.find((parameter) => parameter.trim().startsWith('q='));
    weights.set(name.trim().toLowerCase(), weight ? Number(weight.trim().slice(2)) : 1);
  }
  const accepts = (name: Encoding) => (weights.get(name) ?? 0) > 0;
  if (accepts('br')) return 'br';
  return accepts('gzip') ? 'gzip' : null;
}
