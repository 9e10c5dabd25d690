import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { CatalogView } from '../domain/catalog/catalog-view.ts';
import type { CatalogUse } from './catalog-only.ts';
import type { Encoding, HeldAnswers } from './held-answers.ts';

/** An answer made of the catalog alone: it can be named, kept and sent as it was. */
export interface CatalogAnswer {
  readonly etag: string;
  readonly freshSeconds: number;
  /** Null: the client holds this very answer. */
  readonly body: ((encoding: Encoding | null) => Buffer | Promise<Buffer>) | null;
}

export interface CatalogQuestion {
  readonly held: HeldAnswers;
  readonly use: CatalogUse;
  /** Names document, operation and variables. */
  readonly question: string;
  /** Proves the viewer. */
  readonly read: () => CatalogView | Promise<CatalogView>;
  readonly execute: () => ExecutionResult | Promise<ExecutionResult>;
  /** What this request's answer says beside its data; null where it says nothing. */
  readonly extensions: () => object | null;
}

/** Where something is wrong with the answer it is returned as it is: it must not be kept. */
export async function answerFromCatalog(
  { held, use, question, read, execute, extensions }: CatalogQuestion,
  ifNoneMatch: string | undefined,
): Promise<CatalogAnswer | ExecutionResult> {
  let view: CatalogView;
  try {
    view = await read();
  } catch {
    // The fields say why, each at its own path.
    return execute();
  }
  const { freshSeconds } = view;
  const copy = use.selectsTime ? `${view.fetchedAt.getTime()} ${view.stale}` : '';
  const whole = JSON.stringify([view.group, view.version.version, copy, question]);
  // As a digest, because variables can be as long as a client likes.
  const key = hash('sha256', whole, 'base64url');
  const etag = `W/"${key.slice(0, 22)}"`;
  if (isNamed(ifNoneMatch, etag)) return { etag, freshSeconds, body: null };

  const known = use.selectsTime ? undefined : held.get(key);
  const bytes = known ?? (await made(execute));
  if (!Buffer.isBuffer(bytes)) return bytes;
  if (!known && !use.selectsTime) held.hold(key, bytes);

  const more = extensions();
  const plain = more === null ? bytes : withExtensions(bytes, more);
  const isHeld = more === null && !use.selectsTime;
  const body = (encoding: Encoding | null) =>
    encoding === null || !isHeld ? plain : held.packed(key, bytes, encoding);
  return { etag, freshSeconds, body };
}

async function made(execute: CatalogQuestion['execute']): Promise<Buffer | ExecutionResult> {
  const result = await execute();
  return result.errors ? result : Buffer.from(JSON.stringify({ data: result.data }));
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
