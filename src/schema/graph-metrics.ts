import { OPERATION_NAMES } from '../gateway/operations.ts';
import type { CacheReads, Registry } from '../lib/metrics/registry.ts';
import { type Code, ERROR_CODES } from './error-codes.ts';
import { CODES_OF_CALLS } from './public-error.ts';

const CACHES = ['response', 'document'] as const;

/** The metrics of operations: errors, refusals, caches. `limits`: the names of all whose refusals are counted. */
export function createGraphMetrics(registry: Registry, limits: readonly string[]) {
  const errors = registry.counter(
    'errors_total',
    'Errors in answers, by code and failed call (none: no call); other: a code of your own.',
    { code: [], operation: [] },
  );
  for (const code of Object.keys(ERROR_CODES) as Code[]) {
    const operations = CODES_OF_CALLS.has(code) ? OPERATION_NAMES : [];
    for (const operation of ['none', ...operations]) errors.register(code, operation);
  }
  errors.register('other', 'none');
  const refusals = registry.counter(
    'refusals_total',
    'Requests, fields and sockets that were over a limit here.',
    { limit: limits },
  );
  const reads = registry.counter('cache_reads_total', 'Look-ups in a cache.', {
    cache: CACHES,
    result: ['hit', 'miss'],
  });
  const readsOf = (cache: (typeof CACHES)[number]): CacheReads => ({
    hit: reads.register(cache, 'hit'),
    miss: reads.register(cache, 'miss'),
  });
  return {
    cacheReads: { response: readsOf('response'), document: readsOf('document') },
    cacheBytes: registry.gauge('cache_bytes', 'Size of a cache, as estimated.', 'cache'),
    manifestUnreadable: registry.gauge(
      'manifest_unreadable',
      '1 while the manifest of trusted documents cannot be read.',
    ),
    /** A code that is in no table counts as `other`. */
    error(code: unknown, operation: unknown): void {
      const name = Object.hasOwn(ERROR_CODES, String(code)) ? String(code) : 'other';
      // The operation may be any text: a custom plugin may set it.
      if (!errors.add(name, String(operation ?? 'none'))) errors.add(name, 'none');
    },
    refusal: (limit: unknown) => refusals.add(limits.find((each) => each === limit) ?? 'other'),
  };
}
