import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { CatalogView } from '../../domain/catalog/catalog-view.ts';
import type { Encoding } from '../../lib/pack.ts';
import type { CatalogUse } from './catalog-only.ts';
import type { HeldAnswers } from './held-answers.ts';

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
  readonly held: HeldAnswers;
  readonly use: CatalogUse;
  /** Names document, operation and variables. */
  readonly question: string;
  /** Proves the viewer. */
  readonly read: () => Eventually<CatalogView>;
  readonly execute: () => Eventually<ExecutionResult>;
  readonly text: (result: ExecutionResult) => Eventually<string>;
  /** Called where the answer was in memory and nothing is executed. */
  readonly sent: () => void;
  /** What this request's answer says beside its data; null where it says nothing. */
  readonly extensions: () => object | null;
}

/** Where something is wrong with the answer it is returned as it is: it must not be kept. */
export function answerFromCatalog(
  question: CatalogQuestion,
  ifNoneMatch: string | undefined,
): Eventually<CatalogAnswer | ExecutionResult> {
  let view: Eventually<CatalogView>;
  try {
    view = question.read();
  } catch {
    // The fields say why, each at its own path.
    return question.execute();
  }
  if (!(view instanceof Promise)) return answerFrom(view, question, ifNoneMatch);
  return view.then(
    (arrived) => answerFrom(arrived, question, ifNoneMatch),
    () => question.execute(),
  );
}

function answerFrom(
  view: CatalogView,
  question: CatalogQuestion,
  ifNoneMatch: string | undefined,
): Eventually<CatalogAnswer | ExecutionResult> {
  const { held, use, execute } = question;
  const { freshSeconds } = view;
  const name = nameOf(view, question);
  const known = use.selectsTime ? undefined : held.get(name);
  const etag = known?.etag ?? tagFor(name);
  if (isNamed(ifNoneMatch, etag)) return { etag, freshSeconds, bytes: null, packed: null };
  if (known) {
    question.sent();
    return answerOf(known.plain, { etag, freshSeconds, name, question });
  }
  const result = execute();
  const made = (arrived: ExecutionResult) => {
    if (arrived.errors) return arrived;
    const text = question.text({ data: arrived.data ?? null });
    return text instanceof Promise ? text.then(written) : written(text);
  };
  const written = (text: string) => {
    const bytes = Buffer.from(text);
    if (!use.selectsTime) held.hold(name, bytes, etag);
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
