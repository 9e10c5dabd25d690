import { InputError } from '../../input-error.ts';

/** The sort values of an instrument and its id. They name a position that later versions keep, even without the instrument. */
export type SortKey = readonly (string | number)[];

/** Opaque to clients: the order's name and the sort key, with a checksum. */
export function encodeCursor(order: string, key: SortKey): string {
  // JSON escapes a lone surrogate, so that it survives UTF-8.
  const text = JSON.stringify([order, ...key]);
  return Buffer.from(checkSum(text) + text, 'utf8').toString('base64url');
}

/** `sample` has the types of the order's key. */
export function decodeCursor(
  argument: string,
  cursor: string,
  order: string,
  sample: SortKey,
): SortKey {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString('utf8', CHECK_SUM_LENGTH);
  const isWhole =
    bytes.toString('base64url') === cursor &&
    bytes.toString('utf8', 0, CHECK_SUM_LENGTH) === checkSum(text);
  const [name, ...key] = isWhole ? parse(text) : [];
  if (isWhole && name !== order) {
    throw new InputError(argument, `${argument} is a cursor of another order or another search.`);
  }
  const fits =
    key.length === sample.length && key.every((part, at) => typeof part === typeof sample[at]);
  if (!fits) throw new InputError(argument, `${argument} is no cursor of this service.`);
  return key as SortKey;
}

function parse(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(text);
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

const CHECK_SUM_LENGTH = 8;

/** FNV-1a detects accidents such as a truncated cursor. A forged cursor only pages from elsewhere. */
function checkSum(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return (sum >>> 0).toString(16).padStart(CHECK_SUM_LENGTH, '0');
}
