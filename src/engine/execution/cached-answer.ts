import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { Encoding } from '../../lib/pack.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext, Validity } from '../admission/operation-context.ts';
import type { SharedUse } from '../documents/shared-use.ts';
import { jsonText } from './json-text.ts';
import { CachedResult, type ResponseCache } from './response-cache.ts';

export interface CachedAnswerParts {
  readonly responses: ResponseCache;
  readonly limits: ClientLimits;
  /** Whether there are plugins, which can read and change the result. */
  readonly hasPlugins: boolean;
}

type Execute = () => MaybePromise<ExecutionResult>;

/** These characters of base64 hold 132 bits of the digest. */
const ETAG_LENGTH = 22;

/**
 * Answers from the cache, or executes. A result that failed, or that read the viewer's own data, is not cached. So cached
 * bytes are the same for every viewer of the group.
 */
export function cachedAnswer(
  parts: CachedAnswerParts,
  context: OperationContext,
  execute: Execute,
): MaybePromise<ExecutionResult> {
  const { transport, prepared } = context.operation;
  const { sharedUse } = prepared.facts;
  if (sharedUse === null || sharedUse.isBarred || !transport.takesBytes) return execute();
  const answer = (validity: Validity) => answerFor(validity, parts, context, sharedUse, execute);
  let validity: MaybePromise<Validity>;
  try {
    validity = context.validity();
  } catch {
    // Execution reports the error at the path of each field.
    return execute();
  }
  return validity instanceof Promise ? validity.then(answer, () => execute()) : answer(validity);
}

function answerFor(
  validity: Validity,
  { responses, limits, hasPlugins }: CachedAnswerParts,
  context: OperationContext,
  sharedUse: SharedUse,
  execute: Execute,
): MaybePromise<ExecutionResult> {
  const { operation } = context;
  const { freshSeconds } = validity;
  const key = cacheKey(validity, operation, sharedUse);
  // Plugins read the data of a result, which cached bytes do not have.
  const cached = hasPlugins ? undefined : responses.get(key);
  const etag = cached?.etag ?? etagFor(key);
  const resultBytes = (bytes: Buffer) => {
    const packed = sharedUse.selectsTime
      ? null
      : (encoding: Encoding) => responses.packed(key, bytes, encoding);
    return { etag, freshSeconds, bytes, packed };
  };
  if (cached) {
    // The client is charged the estimate, as a measure of the bytes that are sent.
    operation.meter.fields = operation.cost;
    limits.limiter.spend('fields', limits.currentClient(operation), operation.cost);
    return new CachedResult(resultBytes(cached.plain));
  }
  return chain(execute(), (result): MaybePromise<ExecutionResult> => {
    // If one run has read the viewer's data, later runs may read such data too, so the operation is never cached again.
    sharedUse.isBarred ||= context.isPersonal;
    if (sharedUse.isBarred || result.errors) return result;
    return chain(bytesOf(result, operation), (bytes) => {
      if (!sharedUse.selectsTime) responses.set(key, etag, bytes);
      return new CachedResult(resultBytes(bytes), hasPlugins ? result.data : null);
    });
  });
}

function bytesOf({ data }: ExecutionResult, { meter }: Operation): MaybePromise<Buffer> {
  return chain(jsonText({ data: data ?? null }, meter), (text) =>
    typeof text === 'string' ? Buffer.from(text) : Buffer.concat(text),
  );
}

/** The key contains coerced values, so variables that the document does not use make no difference. */
function cacheKey(
  { version, copy }: Validity,
  { prepared, args }: Operation,
  { selectsTime }: SharedUse,
): string {
  const shared = selectsTime ? `${version} ${copy}` : version;
  return `${shared} ${prepared.name} ${JSON.stringify(args.variableValues.coerced)}`;
}

/** A digest, because the key contains variables, which a client can make of any length. */
function etagFor(key: string): string {
  return `W/"${hash('sha256', key, 'base64url').slice(0, ETAG_LENGTH)}"`;
}
