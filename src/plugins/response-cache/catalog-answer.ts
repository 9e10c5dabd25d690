import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { CatalogView } from '../../domain/catalog/catalog-view.ts';
import type { Eventually } from '../../lib/eventually.ts';
import type { Encoding } from '../../lib/pack.ts';
import type { CatalogUse } from '../documents/sharing-marks.ts';
import type { ResponseCache } from './response-cache.ts';

/** A response made of the catalog alone: it can be named, cached and sent again unchanged. */
export interface CatalogAnswer {
  readonly etag: string;
  readonly freshSeconds: number;
  /** Null means 304: the client already has this very response. */
  readonly bytes: Buffer | null;
  /** Null where the bytes are the request's own, so that compressing them cannot be shared. */
  readonly packed: ((encoding: Encoding) => Eventually<Buffer>) | null;
}

export interface CatalogQuestion {
  readonly cache: ResponseCache;
  readonly use: CatalogUse;
  /** Names the document, the operation and the variables. */
  readonly question: string;
  /** Proves the viewer before anything cached is sent. */
  readonly read: () => Eventually<CatalogView>;
  readonly run: () => Eventually<ExecutionResult>;
  /** True when the run read anything beside the catalog, even against the marks of its fields. */
  readonly isPersonal: () => boolean;
  readonly publish: (result: ExecutionResult) => ExecutionResult;
  readonly bytes: (result: ExecutionResult) => Eventually<Buffer>;
  /** Called on a cache hit, when nothing is executed. */
  readonly sent: () => void;
  /** The `extensions` of this request's response; null where there are none. */
  readonly extensions: () => object | null;
}

/**
 * A result that failed, or that read anything of the viewer's, is returned without being cached.
 * Cached bytes and 304s are sent only under a name whose earlier response proved to be the
 * catalog's alone: confirming an ETag discloses content as well.
 */
export function answerFromCatalog(
  question: CatalogQuestion,
  ifNoneMatch: string | undefined,
): Eventually<CatalogAnswer | ExecutionResult> {
  if (question.cache.isBarred(question.use)) return answerPlainly(question);
  let view: Eventually<CatalogView>;
  try {
    view = question.read();
  } catch {
    // Execution reports the error, at the path of each field.
    return answerPlainly(question);
  }
  if (!(view instanceof Promise)) return answerFrom(view, question, ifNoneMatch);
  return view.then(
    (known) => answerFrom(known, question, ifNoneMatch),
    () => answerPlainly(question),
  );
}

function answerPlainly({ run, publish }: CatalogQuestion): Eventually<ExecutionResult> {
  const result = run();
  return result instanceof Promise ? result.then(publish) : publish(result);
}

function answerFrom(
  view: CatalogView,
  question: CatalogQuestion,
  ifNoneMatch: string | undefined,
): Eventually<CatalogAnswer | ExecutionResult> {
  const { cache, use, run, isPersonal, publish } = question;
  const { freshSeconds } = view;
  const name = nameOf(view, question);
  const known = cache.get(name);
  const etag = known?.etag ?? tagFor(name);
  if (known && isNamed(ifNoneMatch, etag)) {
    cache.reads?.hit.add();
    return { etag, freshSeconds, bytes: null, packed: null };
  }
  if (known?.plain) {
    cache.reads?.hit.add();
    question.sent();
    return answerOf(known.plain, { etag, freshSeconds, name, question });
  }
  cache.reads?.miss.add();
  const result = run();
  const made = (found: ExecutionResult) => {
    const mayKeep = !isPersonal();
    // Only some runs may read it, so the operation is never cached again.
    if (!mayKeep) cache.bar(use);
    if (!mayKeep || found.errors) return publish(found);
    const bytes = question.bytes({ data: found.data ?? null });
    return bytes instanceof Promise ? bytes.then(written) : written(bytes);
  };
  const written = (bytes: Buffer) => {
    cache.set(name, { etag, plain: use.selectsTime ? null : bytes });
    return answerOf(bytes, { etag, freshSeconds, name, question });
  };
  return result instanceof Promise ? result.then(made) : made(result);
}

interface Naming {
  readonly etag: string;
  readonly freshSeconds: number;
  readonly name: string;
  readonly question: CatalogQuestion;
}

function answerOf(
  bytes: Buffer,
  { etag, freshSeconds, name, question: { cache, use, extensions } }: Naming,
): CatalogAnswer {
  const more = extensions();
  if (more !== null) {
    return { etag, freshSeconds, bytes: withExtensions(bytes, more), packed: null };
  }
  const packed = use.selectsTime
    ? null
    : (encoding: Encoding) => cache.packed(name, bytes, encoding);
  return { etag, freshSeconds, bytes, packed };
}

/** The cache key. The lengths keep two keys apart whatever the group's own text contains. */
function nameOf(
  { group, version, fetchedAtMs, stale }: CatalogView,
  { use, question }: CatalogQuestion,
): string {
  const copy = use.selectsTime ? `${fetchedAtMs} ${stale}` : '';
  return `${version.version} ${group.length} ${group} ${copy} ${question}`;
}

/** A digest, because the key contains variables, which are as long as a client likes. */
function tagFor(name: string): string {
  return `W/"${hash('sha256', name, 'base64url').slice(0, 22)}"`;
}

function withExtensions(bytes: Buffer, extensions: object): Buffer {
  const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
  return Buffer.concat([bytes.subarray(0, -1), end]);
}

/** True when `If-None-Match` lists this ETag. */
export function isNamed(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => each.trim() === etag || each.trim() === '*');
}
