import { isObject } from '../request/failures.ts';
import { parseJson } from '../request/wire-result.ts';
import type { CatalogCopy, Owner } from './catalog-copy.ts';
import { KEY_FIELDS, type KeyFields } from './instrument.ts';

/** A copy, whose it is, and how old it was when. */
export interface AgedCopy {
  readonly owner: Owner;
  readonly copy: CatalogCopy<KeyFields>;
  readonly ageSeconds: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** Some of a copy's instruments, sorted, and the version in which they last changed. */
export interface Entry {
  readonly version: string;
  readonly rows: readonly KeyFields[];
}

/** Describes a stored copy and its entries: an entry that differs from its description was not reached by the last write. */
export interface Head {
  readonly version: string;
  readonly ageSeconds: number;
  readonly atMs: number;
  readonly entries: readonly { readonly version: string; readonly ids: readonly string[] }[];
  /** The ids of those that are still to be fetched. */
  readonly stale: readonly string[];
}

type Content = Readonly<Record<string, unknown>>;

const FORMAT = 2;
/** The beginning of all keys under which catalogs are kept, also by versions that kept their parts apart. */
export const ANY_PREFIX = 'trading-graph:catalog';
const PREFIX = 'trading-graph:catalog:';

export function storageKey({ login, group }: Owner): string {
  return `${PREFIX}${JSON.stringify([login, group])}`;
}

export function entryKey({ login, group }: Owner, at: number): string {
  return `${PREFIX}${JSON.stringify([login, group, at])}`;
}

/** The prefix of the keys of an account's copies and their entries, whatever their group. */
export function accountPrefix(login: string): string {
  return `${PREFIX}[${JSON.stringify(login)},`;
}

/** The owner in a key; null where it is none of a copy. */
export function ownerOf(key: string): Owner | null {
  const owner = key.startsWith(PREFIX) ? parseJson(key.slice(PREFIX.length)) : null;
  const [login, group, ...others] = isListOf(owner, isText) ? owner : [];
  return login === undefined || group === undefined || others.length > 0 ? null : { login, group };
}

/** An account's text, of these fields: a head or an entry. */
export function toText(owner: Owner, fields: string, content: Head | Entry): string {
  return JSON.stringify({ format: FORMAT, ...owner, fields, ...content });
}

/** Nothing where the text is damaged, another owner's, of other fields or of another version of this package. */
export function contentOf({ login, group }: Owner, fields: string, text: string): Content {
  const content = parseJson(text);
  const isOwn = isObject(content) && content.login === login && content.group === group;
  return isOwn && content.format === FORMAT && content.fields === fields ? content : {};
}

export function headOf({ version, ageSeconds, atMs, entries, stale = [] }: Content): Head | null {
  if (!isVersion(version) || !isListOf(entries, isEntryHead) || !isListOf(stale, isText))
    return null;
  if (!isAmount(ageSeconds) || !isAmount(atMs)) return null;
  return { version, ageSeconds, atMs, entries, stale };
}

export function entryOf({ version, rows }: Content): Entry | null {
  return isVersion(version) && isListOf(rows, isInstrument) ? { version, rows } : null;
}

function isEntryHead(value: unknown): value is Head['entries'][number] {
  return isObject(value) && isVersion(value.version) && isListOf(value.ids, isText);
}

function isInstrument(value: unknown): value is KeyFields {
  return isObject(value) && KEY_FIELDS.every((field) => isText(value[field]));
}

function isListOf<T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isVersion(value: unknown): value is string {
  return isText(value) && value !== '';
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}
