import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import { after, type Eventually } from '../../lib/eventually.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import type { Encoding } from '../../lib/pack.ts';
import type { Operation } from '../admission/operation.ts';
import {
  GRAPH,
  type GraphPlugin,
  type OperationContext,
  type Validity,
} from '../admission/plugin.ts';
import type { SharedUse } from '../documents/sharing-marks.ts';
import { currentClient } from '../limits/use-client-limits.ts';
import { jsonBytes, jsonText } from '../results/json-text.ts';
import { CachedResult, type ResponseCache } from './response-cache.ts';

interface ResponseCacheOptions {
  readonly cache: ResponseCache;
  readonly limiter: Limiter;
  /** Whether 304 may be sent without the result, which others might change. */
  readonly confirms: boolean;
}

interface Question {
  readonly context: OperationContext;
  readonly use: SharedUse;
  readonly run: () => Eventually<ExecutionResult>;
}

/**
 * A result that failed, or that read anything of the viewer's, is returned without being cached.
 * Cached bytes and 304s are sent only under a name whose earlier response proved to be shared by all:
 * confirming an ETag discloses content as well. Needs `prepared` of usePreparedDocuments, `values` of useVariables,
 * `cost` and `meter` of useCostLimit.
 */
export function useResponseCache(options: ResponseCacheOptions): GraphPlugin {
  const { cache, limiter, confirms } = options;

  function answer(question: Question): Eventually<ExecutionResult> {
    const { context, use, run } = question;
    if (use.isBarred) return run();
    let validity: Eventually<Validity>;
    try {
      validity = context.validity();
    } catch {
      // Execution reports the error, at the path of each field.
      return run();
    }
    return validity instanceof Promise
      ? validity.then((known) => answerFrom(known, question), run)
      : answerFrom(validity, question);
  }

  function answerFrom(validity: Validity, question: Question): Eventually<ExecutionResult> {
    const { context, use, run } = question;
    const { operation } = context;
    const { freshSeconds } = validity;
    const name = nameOf(validity, operation, use);
    const known = cache.get(name);
    const etag = known?.etag ?? tagFor(name);
    if (confirms && known && isNamed(operation.transport.ifNoneMatch, etag)) {
      cache.reads?.hit.add();
      return new CachedResult({ etag, freshSeconds, bytes: null, packed: null });
    }
    const found = (bytes: Buffer) => {
      const packed = use.selectsTime
        ? null
        : (encoding: Encoding) => cache.packed(name, bytes, encoding);
      return new CachedResult({ etag, freshSeconds, bytes, packed });
    };
    if (known?.plain) {
      cache.reads?.hit.add();
      operation.meter.fields = operation.cost;
      // It is charged the estimate, as a measure of the bytes that are sent.
      limiter.spend('fields', currentClient(context, limiter), operation.cost);
      return found(known.plain);
    }
    cache.reads?.miss.add();
    const written = (bytes: Buffer) => {
      cache.set(name, { etag, plain: use.selectsTime ? null : bytes });
      return found(bytes);
    };
    const made = (result: ExecutionResult): Eventually<ExecutionResult> => {
      // Only some runs may read it, so the operation is never cached again.
      use.isBarred ||= context.isPersonal;
      if (use.isBarred || result.errors) return result;
      return after(bytesOf(result, operation), written);
    };
    return after(run(), made);
  }

  return {
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const context = contextValue[GRAPH];
      const { transport, prepared } = context.operation;
      const use = prepared.sharedUse;
      if (use === null || !transport.takesBytes) return;
      setExecuteFn((args) => answer({ context, use, run: () => executeFn(args) }));
    },
  };
}

function bytesOf({ data }: ExecutionResult, { meter }: Operation): Eventually<Buffer> {
  return after(jsonText({ data: data ?? null }, meter), (text) => jsonBytes(text, meter));
}

/** The cache key. Coerced values: variables that the document does not use make no difference. */
function nameOf(
  { version, copy }: Validity,
  { prepared, values }: Operation,
  { selectsTime }: SharedUse,
): string {
  const shared = selectsTime ? `${version} ${copy}` : version;
  return `${shared} ${prepared.name} ${JSON.stringify(values.coerced)}`;
}

/** A digest, because the key contains variables, which are as long as a client likes. */
function tagFor(name: string): string {
  return `W/"${hash('sha256', name, 'base64url').slice(0, 22)}"`;
}

/** True when `If-None-Match` lists this ETag. */
export function isNamed(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => each.trim() === etag || each.trim() === '*');
}
