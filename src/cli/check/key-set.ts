import { isRow } from '../../gateway/wire/scalars.ts';
import { reasonOf } from '../../lib/reason-of.ts';

const TIMEOUT_MS = 5_000;

/** Fetches a key set as the service does, which follows no redirect; null where it holds keys. */
export async function faultOfKeySet(url: string): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { redirect: 'manual', signal });
    const text = await response.text();
    if (response.status !== 200) return `it is answered with status ${response.status}`;
    return holdsKeys(text) ? null : 'the answer has no keys';
  } catch (error) {
    const { cause } = error as Error;
    return `it cannot be fetched: ${reasonOf(cause instanceof Error ? cause : error)}`;
  }
}

function holdsKeys(text: string): boolean {
  try {
    const set: unknown = JSON.parse(text);
    return isRow(set) && Array.isArray(set.keys) && set.keys.length > 0;
  } catch {
    return false;
  }
}
