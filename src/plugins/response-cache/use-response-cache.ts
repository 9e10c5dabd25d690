import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import { after, type Eventually } from '../../lib/eventually.ts';
import type { Encoding } from '../../lib/pack.ts';
import type { CatalogUse } from '../documents/sharing-marks.ts';
import type { Operation } from '../operation.ts';
import { GRAPH, type GraphPlugin, type OperationContext } from '../plugin.ts';
import { jsonBytes, jsonText } from '../results/json-text.ts';
import { CachedResult, type ResponseCache } from './response-cache.ts';

/** The content and the audience for which the fields that an operation reads are the same. */
export interface Validity {
  /** Names the content, and who shares it. */
  readonly version: string;
  /** Names the copy of that content as well. */
  readonly copy: string;
  readonly freshSeconds: number;
}

interface ResponseCacheOptions<Context> {
  readonly cache: ResponseCache;
  /** Proves the viewer before anything cached is sent; throws or rejects where execution reports why. */
  readonly validityFor: (context: Context) => Eventually<Validity>;
  /** Called when a cached response is sent, for which nothing is executed. */
  readonly onHit: (context: Context) => void;
  /** True when the run read what is not shared, even against the marks of its fields. */
  readonly isPersonal: (context: Context) => boolean;
  /** Whether 304 may be sent without the result, which others might change. */
  readonly confirms: boolean;
}

type Execute = () => Eventually<ExecutionResult>;

interface Question {
  readonly operation: Operation;
  readonly use: CatalogUse;
  readonly run: Execute;
  readonly isPersonal: () => boolean;
  readonly onHit: () => void;
}

/**
 * A result that failed, or that read anything of the viewer's, is returned without being cached.
 * Cached bytes and 304s are sent only under a name whose earlier response proved to be shared by all:
 * confirming an ETag discloses content as well. Needs `prepared` of usePreparedDocuments, `values` of useVariables,
 * `cost` and `meter` of useCostLimit.
 */
export function useResponseCache<Context extends OperationContext>({
  cache,
  validityFor,
  onHit,
  isPersonal,
  confirms,
}: ResponseCacheOptions<Context>): GraphPlugin {
  function answer(context: Context, use: CatalogUse, run: Execute): Eventually<ExecutionResult> {
    if (cache.isBarred(use)) return run();
    const question = {
      operation: context.operation,
      use,
      run,
      isPersonal: () => isPersonal(context),
      onHit: () => onHit(context),
    };
    let validity: Eventually<Validity>;
    try {
      validity = validityFor(context);
    } catch {
      // Execution reports the error, at the path of each field.
      return run();
    }
    return validity instanceof Promise
      ? validity.then((known) => answerFrom(known, question), run)
      : answerFrom(validity, question);
  }

  function answerFrom(validity: Validity, question: Question): Eventually<ExecutionResult> {
    const { operation, use, run } = question;
    const { freshSeconds } = validity;
    const name = nameOf(validity, question);
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
      question.onHit();
      return found(known.plain);
    }
    cache.reads?.miss.add();
    const written = (bytes: Buffer) => {
      cache.set(name, { etag, plain: use.selectsTime ? null : bytes });
      return found(bytes);
    };
    const made = (result: ExecutionResult): Eventually<ExecutionResult> => {
      const mayKeep = !question.isPersonal();
      // Only some runs may read it, so the operation is never cached again.
      if (!mayKeep) cache.bar(use);
      if (!mayKeep || result.errors) return result;
      return after(bytesOf(result, operation), written);
    };
    return after(run(), made);
  }

  return {
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const context = contextValue[GRAPH] as Context;
      const { transport, prepared } = context.operation;
      const use = prepared.catalogUse;
      if (use === null || !transport.takesBytes) return;
      setExecuteFn((args) => answer(context, use, () => executeFn(args)));
    },
  };
}

function bytesOf({ data }: ExecutionResult, { meter }: Operation): Eventually<Buffer> {
  return after(jsonText({ data: data ?? null }, meter), (text) => jsonBytes(text, meter));
}

/** The cache key. Coerced values: variables that the document does not use make no difference. */
function nameOf({ version, copy }: Validity, { operation, use }: Question): string {
  const shared = use.selectsTime ? `${version} ${copy}` : version;
  return `${shared} ${operation.prepared.name} ${JSON.stringify(operation.values.coerced)}`;
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
