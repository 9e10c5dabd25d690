import type { Eventually } from '../../lib/eventually.ts';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Documents, PreparedDocument } from '../documents/documents.ts';
import type { ClientLimits, PassedRequest } from '../limits/client-limits.ts';
import type { RequestedDocument } from '../params/params.ts';
import { type Refusal, refused } from './refusal.ts';

// A comment is no token, but what is remembered of its document holds it.
const CHARACTERS_PER_TOKEN = 64;

export interface PreparationParts {
  readonly documents: Documents;
  readonly scheduler: FairScheduler;
  readonly limits: ClientLimits;
}

/**
 * Parses, limits and validates a document that nobody has sent before, in a turn of its own: a hundred may be received in
 * one turn of the event loop. It costs its client a budget of tokens.
 */
export function prepareDocument(
  parts: PreparationParts,
  { trusted, query }: RequestedDocument,
  passed: PassedRequest,
): Eventually<PreparedDocument | Refusal> {
  const { documents, scheduler } = parts;
  if (trusted !== null) return trusted;
  return documents.isPrepared(query) || !scheduler.isSliceOver()
    ? prepared(parts, query, passed)
    : scheduler.turn(passed.client.key).then(() => prepared(parts, query, passed));
}

function prepared(
  { documents, limits }: PreparationParts,
  text: string,
  passed: PassedRequest,
): PreparedDocument | Refusal {
  const isNew = !documents.isPrepared(text);
  const refusal = isNew ? limits.overDocuments(passed) : null;
  if (refusal !== null) return refusal;
  const result = documents.prepare(text);
  if (isNew) {
    const tokens = Math.max(result.tokens, Math.ceil(text.length / CHARACTERS_PER_TOKEN));
    limits.limiter.spend('documents', passed.client, tokens);
  }
  return 'errors' in result ? refused(result.errors) : result;
}
