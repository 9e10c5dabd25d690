import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { CatalogView } from '../../domain/catalog/catalog-view.ts';
import type { Encoding } from '../../lib/pack.ts';
import type { CatalogUse } from './catalog-only.ts';
import type { ResponseCache } from './response-cache.ts';

type Eventually<T> = T | Promise<T>;

/** An answer made of the catalog alone: it can be named, kept and sent as it was. */
export interface CatalogAnswer {
  readonly etag: string;
  readonly freshSeconds: number;
  /** Null: the client holds this very answer. */
  readonly bytes: Buffer | null;
  /** Null where every request has to pack its own. */
  readonly packed: ((encoding: Encoding) => Eventually<Buffer>) | null;
}

export interface CatalogQuestion {
  readonly held: ResponseCache;
  readonly use: CatalogUse;
  /** Names document, operation and variables. */
  readonly question: string;
  /** Proves the viewer. */
  readonly read: () => Eventually<CatalogView>;
  readonly run: () => Eventually<ExecutionResult>;
  /** Whether the run has read anything beside the catalog, whatever its fields are marked as. */
  readonly isPersonal: () => boolean;
  readonly publish: (result: ExecutionResult) => ExecutionResult;
  readonly text: (result: ExecutionResult) => Eventually<string>;
  /** Called where the answer was in memory and nothing is executed. */
  readonly sent: () => void;
  /** What this request's answer says beside its data; null where it says nothing. */
  readonly extensions: () => object | null;
}

/**
 * What has failed or read anything of the viewer's is returned as a plain result: it must not be
 * kept. Bytes and ETags are given away at once only under a name whose answer has been made before
 * and was found to be the catalog's alone, for an ETag that is confirmed tells of content as well.
 */
export function answerFromCatalog(
  question: CatalogQuestion,
  ifNoneMatch: string | undefined,
): Eventually<CatalogAnswer | ExecutionResult> {
  if (question.held.isBarred(question.use)) return answerPlainly(question);
  let view: Eventually<CatalogView>;
  try {
    view = question.read();
  } catch {
    // The fields say why, each at its own path.
    return answerPlainly(question);
  }
  if (!(view instanceof Promise)) return answerFrom(view, question, ifNoneMatch);
  return view.then(
    (arrived) => answerFrom(arrived, question, ifNoneMatch),
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
  const { held, use, run, isPersonal, publish } = question;
  const { freshSeconds } = view;
  const name = nameOf(view, question);
  const known = held.get(name);
  const etag = known?.etag ?? tagFor(name);
  if (known && isNamed(ifNoneMatch, etag)) {
    return { etag, freshSeconds, bytes: null, packed: null };
  }
  if (known?.plain) {
    question.sent();
    return answerOf(known.plain, { etag, freshSeconds, name, question });
  }
  const result = run();
  const made = (arrived: ExecutionResult) => {
    const mayKeep = !isPersonal();
    // Another run of it may find the same only sometimes: none of them is shared any more.
    if (!mayKeep) held.bar(use);
    if (!mayKeep || arrived.errors) return publish(arrived);
    const text = question.text({ data: arrived.data ?? null });
    return text instanceof Promise ? text.then(written) : written(text);
  };
  const written = (text: string) => {
    const bytes = Buffer.from(text);
    held.hold(name, { etag, plain: use.selectsTime ? null : bytes });
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
  { etag, freshSeconds, name, question: { held, use, extensions } }: Naming,
): CatalogAnswer {
  const more = extensions();
  if (more !== null) {
    return { etag, freshSeconds, bytes: withExtensions(bytes, more), packed: null };
  }
  const packed = use.selectsTime
    ? null
    : (encoding: Encoding) => held.packed(name, bytes, encoding);
  return { etag, freshSeconds, bytes, packed };
}

/** What tells this answer from all others that may be held beside it; the group's own text is measured. */
function nameOf(
  { group, version, fetchedAtMs, stale }: CatalogView,
  { use, question }: CatalogQuestion,
): string {
  const copy = use.selectsTime ? `${fetchedAtMs} ${stale}` : '';
  return `${version.version} ${group.length} ${group} ${copy} ${question}`;
}

/** A digest, because a name holds variables, which are as long as a client likes. */
function tagFor(name: string): string {
  return `W/"${hash('sha256', name, 'base64url').slice(0, 22)}"`;
}

function withExtensions(bytes: Buffer, extensions: object): Buffer {
  const end = Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`);
  return Buffer.concat([bytes.subarray(0, -1), end]);
}

/** Whether a client says that it holds this very answer. */
export function isNamed(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => each.trim() === etag || each.trim() === '*');
}
