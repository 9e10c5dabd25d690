import { isObject } from '../request/failures.ts';
import { parseJson } from '../request/wire-result.ts';
import type { CatalogCopy, Owner } from './catalog-copy.ts';
import type { Download, Step } from './download.ts';
import { KEY_FIELDS, type KeyFields } from './instrument.ts';

/** A copy, and how old it was when. */
export interface AgedCopy {
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

/** What a stored copy is, and what its entries have to be: one that is another was not reached by the last write. */
export interface Head {
  readonly version: string;
  readonly ageSeconds: number;
  readonly atMs: number;
  readonly entries: readonly { readonly version: string; readonly ids: readonly string[] }[];
}

const FORMAT = 2;
const PREFIX = 'trading-graph:catalog:';
const STEP_PREFIX = 'trading-graph:catalog-part:';

/** How the keys of everything begin that is kept of catalogs. */
export const ALL_PREFIXES: readonly string[] = [PREFIX, STEP_PREFIX];

export function storageKey({ login, group }: Owner): string {
  return `${PREFIX}${JSON.stringify([login, group])}`;
}

export function entryKey({ login, group }: Owner, at: number): string {
  return `${PREFIX}${JSON.stringify([login, group, at])}`;
}

/** How the keys of the account's copies and their entries begin, for whatever group. */
export function accountPrefix(login: string): string {
  return `${PREFIX}[${JSON.stringify(login)},`;
}

/** The owner in a key; null where it is none of a copy. */
export function ownerOf(key: string): Owner | null {
  const owner = key.startsWith(PREFIX) ? parse(key.slice(PREFIX.length)) : null;
  if (!Array.isArray(owner)) return null;
  const [login, group] = owner;
  const isOwner = typeof login === 'string' && typeof group === 'string' && owner.length === 2;
  return isOwner ? { login, group } : null;
}

/** The steps of a download are texts of their own, so that each costs no more to write than it brings. */
export function stepKey({ login, group }: Owner, at: number): string {
  return `${STEP_PREFIX}${JSON.stringify([login, group, at])}`;
}

export function stepPrefix(login: string): string {
  return `${STEP_PREFIX}[${JSON.stringify(login)},`;
}

export function stepToText(owner: Owner, fields: string, step: Step): string {
  return toText(owner, fields, { step });
}

/** Whether it was the step that follows, undamaged, of this owner and these fields. */
export function takeStep(download: Download, fields: string, text: string): boolean {
  const content = contentOf(download.owner, fields, text);
  return content !== null && isStep(content.step) && download.take(content.step);
}

export function headToText(owner: Owner, fields: string, head: Head): string {
  return toText(owner, fields, head);
}

export function entryToText(owner: Owner, fields: string, entry: Entry): string {
  return toText(owner, fields, entry);
}

/** Null where the text is damaged, another owner's, of other fields or of another version of this package. */
export function headFromText(owner: Owner, fields: string, text: string): Head | null {
  const content = contentOf(owner, fields, text);
  if (content === null) return null;
  const { version, ageSeconds, atMs, entries } = content;
  if (!isVersion(version) || !isAmount(ageSeconds) || !isAmount(atMs)) return null;
  if (!Array.isArray(entries) || !entries.every(isEntryHead)) return null;
  return { version, ageSeconds, atMs, entries };
}

/** Null as of a head. */
export function entryFromText(owner: Owner, fields: string, text: string): Entry | null {
  const content = contentOf(owner, fields, text);
  if (content === null) return null;
  const { version, rows } = content;
  const isEntry = isVersion(version) && Array.isArray(rows) && rows.every(isInstrument);
  return isEntry ? { version, rows } : null;
}

function toText(owner: Owner, fields: string, content: object): string {
  return JSON.stringify({ format: FORMAT, ...owner, fields, ...content });
}

function contentOf(owner: Owner, fields: string, text: string) {
  const content = parse(text);
  if (content === null || content.format !== FORMAT || content.fields !== fields) return null;
  return content.login === owner.login && content.group === owner.group ? content : null;
}

function isStep(value: unknown): value is Step {
  if (!isObject(value) || !isObject(value.from)) return false;
  const { version, removed, upserted } = value;
  const areLists = Array.isArray(removed) && Array.isArray(upserted);
  return isVersion(version) && areLists && upserted.every(isInstrument);
}

function isEntryHead(value: unknown): value is Head['entries'][number] {
  if (!isObject(value) || !isVersion(value.version) || !Array.isArray(value.ids)) return false;
  return value.ids.every((id) => typeof id === 'string');
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function parse(json: string): Readonly<Record<string, unknown>> | null {
  const content = parseJson(json);
  return isObject(content) ? content : null;
}

function isInstrument(value: unknown): value is KeyFields {
  return isObject(value) && KEY_FIELDS.every((field) => typeof value[field] === 'string');
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}
