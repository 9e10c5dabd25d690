import type { Result } from '../core.ts';
import { BACKOFF_CAP_MS, backoffMs } from './backoff.ts';
import { isObject } from './failures.ts';

/** Whether the server refuses the token of the request, for all of it or for a part. */
export function isTokenRefused({ errors }: Result<unknown>): boolean {
  return errors.some(({ code }) => code === 'UNAUTHENTICATED');
}

/** Whether nothing of the request was carried out because of its token. */
export function isWhollyRefused({ data, errors }: Result<unknown>): boolean {
  const refused = errors.filter(({ code }) => code === 'UNAUTHENTICATED');
  if (!isObject(data)) return refused.length > 0;
  const fields = new Set(
    refused.filter(({ path }) => path?.length === 1).map(({ path }) => path?.[0]),
  );
  return Object.entries(data).every(([field, value]) => value === null && fields.has(field));
}

/**
 * The pause before the request is repeated; null where it is not. An answer with some of the data is not repeated: what
 * came can be shown.
 */
export function retryDelay(
  { data, errors }: Result<unknown>,
  failures: number,
  random: () => number,
): number | null {
  if (errors.length === 0 || !errors.every(({ retryable }) => retryable)) return null;
  if (isObject(data) && Object.values(data).some((value) => value !== null)) return null;
  // Two pages in the place of an answer: the address is a wrong one, or the user has to sign in to the network.
  if (failures > 0 && errors.some(({ extensions: { url } }) => url !== undefined)) return null;
  const floorSeconds = Math.max(0, ...errors.map(({ retryAfter }) => retryAfter ?? 0));
  // The caller would rather know than wait for minutes.
  if (floorSeconds * 1_000 > BACKOFF_CAP_MS) return null;
  return backoffMs(failures, random, floorSeconds);
}
