import { createHash, hash } from 'node:crypto';
import type { Instrument } from '../../gateway/model.ts';

export interface Digest {
  readonly digest: string;
  /** Length of the instrument as JSON, the measure for the memory it takes. */
  readonly bytes: number;
}

// 96 bits tell the states of one instrument apart; 16 characters are what each costs to remember.
const DIGEST_BYTES = 12;
const VERSION_BYTES = 16;

/** Names an instrument's content. The wire mapping writes properties in one order, so equal content is equal text. */
export function digestOf(instrument: Instrument): Digest {
  const json = JSON.stringify(instrument);
  // Through a buffer: a slice of a longer string would keep all of it in memory.
  const digest = hash('sha256', json, 'buffer').toString('base64url', 0, DIGEST_BYTES);
  return { digest, bytes: json.length };
}

/** Names a whole catalog. The digests come in the catalog's own order, so the gateway's does not matter. */
export function versionOf(digests: Iterable<string>): string {
  const sum = createHash('sha256');
  for (const digest of digests) sum.update(digest);
  return sum.digest().toString('base64url', 0, VERSION_BYTES);
}
