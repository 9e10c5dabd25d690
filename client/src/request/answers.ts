import type { Result } from '../core.ts';
import { BACKOFF_CAP_MS, backoffMs } from './backoff.ts';
import { isObject } from './failures.ts';

/** Whether the server refuses the request's token, for the whole request or a part. */
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
 * The pause before the request is repeated; null if it is not repeated. After an answer with some data it is not: the data
 * can be shown.
 */
export function retryDelay(
  { data, errors }: Result<unknown>,
  failures: number,
  random: () => number,
): number | null {
  if (errors.length === 0 || !errors.every(({ retryable }) => retryable)) return null;
  if (isObject(data) && Object.values(data).some((value) => value !== null)) return null;
  // Two HTML pages instead of an answer: the address is wrong, or the user has to sign in to the network.
  if (failures > 0 && errors.some(({ extensions: { url } }) => url !== undefined)) return null;
  const floorSeconds = Math.max(0, ...errors.map(({ retryAfter }) => retryAfter ?? 0));
  // A caller needs the error now rather than after minutes.
  if (floorSeconds * 1_000 > BACKOFF_CAP_MS) return null;
  return backoffMs(failures, random, floorSeconds);
}
