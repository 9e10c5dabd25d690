import { createHash, hash } from 'node:crypto';
import type { Instrument } from '../../gateway/model.ts';

export interface Digest {
  readonly digest: string;
  /** Length of the instrument as JSON, from which its memory is estimated. */
  readonly bytes: number;
}

// 96 bits distinguish the states of one instrument, at 16 characters of memory for each.
const DIGEST_BYTES = 12;
const VERSION_BYTES = 16;

/** Digest of an instrument's content. The wire mapping orders properties, so equal content is equal text. */
export function digestOf(instrument: Instrument): Digest {
  const json = JSON.stringify(instrument);
  // The buffer is needed because a slice of a longer string would keep all of it in memory.
  const digest = hash('sha256', json, 'buffer').toString('base64url', 0, DIGEST_BYTES);
  return { digest, bytes: json.length };
}

/** Digest of a whole catalog. Digests come in the catalog's own order, so the gateway's does not matter. */
export function versionOf(digests: Iterable<string>): string {
  const sum = createHash('sha256');
  for (const digest of digests) sum.update(digest);
  return sum.digest().toString('base64url', 0, VERSION_BYTES);
}
