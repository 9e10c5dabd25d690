import { InputError } from '../../input-error.ts';

export type SortKey = readonly (string | number)[];

/** A position in an order: it means the same in a later version, even if its instrument was removed. */
export interface Place {
  readonly key: SortKey;
  readonly id: string;
}

/** Opaque to clients: the order's name, the sort key and the id, with a checksum. */
export function encodeCursor(order: string, { key, id }: Place): string {
  // JSON escapes a lone surrogate, so that it survives UTF-8.
  const text = JSON.stringify([order, ...key, id]);
  return Buffer.from(checkSum(text) + text, 'utf8').toString('base64url');
}

/** `sample` has the types of the order's key. */
export function decodeCursor(
  argument: string,
  cursor: string,
  order: string,
  sample: SortKey,
): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString('utf8', CHECK_SUM_LENGTH);
  const isWhole =
    bytes.toString('base64url') === cursor &&
    bytes.toString('utf8', 0, CHECK_SUM_LENGTH) === checkSum(text);
  const [name, ...key] = isWhole ? parse(text) : [];
  if (isWhole && name !== order) {
    throw new InputError(argument, `${argument} is a cursor of another order or another search.`);
  }
  const id = key.pop();
  const fits =
    key.length === sample.length && key.every((part, at) => typeof part === typeof sample[at]);
  if (!isWhole || !fits || typeof id !== 'string') {
    throw new InputError(argument, `${argument} is no cursor of this service.`);
  }
  return { key: key as (string | number)[], id };
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
