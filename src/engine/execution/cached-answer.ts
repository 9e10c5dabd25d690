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

type Execute = (context: OperationContext) => MaybePromise<ExecutionResult>;

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
  const use = prepared.facts.sharedUse;
  if (use === null || use.isBarred || !transport.takesBytes) return execute(context);
  const answer = (validity: Validity) => answerFor(validity, parts, context, use, execute);
  let validity: MaybePromise<Validity>;
  try {
    validity = context.validity();
  } catch {
    // Execution reports the error at the path of each field.
    return execute(context);
  }
  return validity instanceof Promise
    ? validity.then(answer, () => execute(context))
    : answer(validity);
}

function answerFor(
  validity: Validity,
  { responses, limits, hasPlugins }: CachedAnswerParts,
  context: OperationContext,
  use: SharedUse,
  execute: Execute,
): MaybePromise<ExecutionResult> {
  const { operation } = context;
  const { freshSeconds } = validity;
  const name = nameOf(validity, operation, use);
  // Plugins read the data of a result, which cached bytes do not have.
  const known = hasPlugins ? undefined : responses.get(name);
  const etag = known?.etag ?? tagFor(name);
  const sent = (bytes: Buffer) => {
    const packed = use.selectsTime
      ? null
      : (encoding: Encoding) => responses.packed(name, bytes, encoding);
    return { etag, freshSeconds, bytes, packed };
  };
  if (known) {
    operation.meter.fields = operation.cost;
    // The client is charged the estimate, as a measure of the bytes that are sent.
    limits.limiter.spend('fields', limits.currentClient(operation), operation.cost);
    return new CachedResult(sent(known.plain));
  }
  return chain(execute(context), (result): MaybePromise<ExecutionResult> => {
    // If one run has read the viewer's data, later runs may too, so the operation is never cached again.
    use.isBarred ||= context.isPersonal;
    if (use.isBarred || result.errors) return result;
    return chain(bytesOf(result, operation), (bytes) => {
      if (!use.selectsTime) responses.set(name, etag, bytes);
      return new CachedResult(sent(bytes), hasPlugins ? result.data : null);
    });
  });
}

function bytesOf({ data }: ExecutionResult, { meter }: Operation): MaybePromise<Buffer> {
  return chain(jsonText({ data: data ?? null }, meter), (text) =>
    typeof text === 'string' ? Buffer.from(text) : Buffer.concat(text),
  );
}

/** The cache key. It contains coerced values, so variables that the document does not use make no difference. */
function nameOf(
  { version, copy }: Validity,
  { prepared, args }: Operation,
  { selectsTime }: SharedUse,
): string {
  const shared = selectsTime ? `${version} ${copy}` : version;
  return `${shared} ${prepared.name} ${JSON.stringify(args.variableValues.coerced)}`;
}

/** A digest, because the key contains variables, which a client can make of any length. */
function tagFor(name: string): string {
  return `W/"${hash('sha256', name, 'base64url').slice(0, 22)}"`;
}
