import { isObject } from '../request/failures.ts';
import { parseJson } from '../request/wire-result.ts';
import { CatalogCopy, type Owner } from './catalog-copy.ts';
import type { Download, Step } from './download.ts';
import { KEY_FIELDS, type KeyFields } from './instrument.ts';

/** A copy, and how old it was when. */
export interface AgedCopy {
  readonly copy: CatalogCopy<KeyFields>;
  readonly ageSeconds: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

const FORMAT = 1;
const PREFIX = 'trading-graph:catalog:';
const STEP_PREFIX = 'trading-graph:catalog-part:';

/** How the keys of everything begin that is kept of catalogs. */
export const ALL_PREFIXES: readonly string[] = [PREFIX, STEP_PREFIX];

export function storageKey({ login, group }: Owner): string {
  return `${PREFIX}${JSON.stringify([login, group])}`;
}

/** How the keys of the account's copies begin, for whatever group. */
export function accountPrefix(login: string): string {
  return `${PREFIX}[${JSON.stringify(login)},`;
}

/** The owner in a key; null where it is none of a copy. */
export function ownerOf(key: string): Owner | null {
  const owner = key.startsWith(PREFIX) ? parse(key.slice(PREFIX.length)) : null;
  if (!Array.isArray(owner)) return null;
  const [login, group] = owner;
  return typeof login === 'string' && typeof group === 'string' ? { login, group } : null;
}

/** The steps of a download are texts of their own, so that each costs no more to write than it brings. */
export function stepKey({ login, group }: Owner, at: number): string {
  return `${STEP_PREFIX}${JSON.stringify([login, group, at])}`;
}

export function stepPrefix(login: string): string {
  return `${STEP_PREFIX}[${JSON.stringify(login)},`;
}

export function stepToText(owner: Owner, fields: string, step: Step): string {
  return checked({ format: FORMAT, ...owner, fields, step });
}

/** Whether it was the step that follows, undamaged, of this owner and these fields. */
export function takeStep(download: Download, fields: string, text: string): boolean {
  const content = contentOf(download.owner, fields, text);
  return content !== null && isStep(content.step) && download.take(content.step);
}

/** Version and instruments are one text with a checksum, so that they belong together whatever the storage does. */
export function toText(owner: Owner, fields: string, { copy, ageSeconds, atMs }: AgedCopy): string {
  const { version, all } = copy;
  const content = { format: FORMAT, ...owner, fields, version, ageSeconds, atMs, instruments: all };
  return checked(content);
}

/** Null where the text is damaged, another owner's, of other fields or of another version of this package. */
export function fromText(owner: Owner, fields: string, text: string): AgedCopy | null {
  const content = contentOf(owner, fields, text);
  if (content === null) return null;
  const { version, ageSeconds, atMs, instruments } = content;
  if (typeof version !== 'string' || version === '' || !Array.isArray(instruments)) return null;
  if (!isAmount(ageSeconds) || !isAmount(atMs) || !instruments.every(isInstrument)) return null;
  const byId = new Map(instruments.map((instrument) => [instrument.id, instrument]));
  return { copy: new CatalogCopy(version, byId), ageSeconds, atMs };
}

function checked(content: object): string {
  const json = JSON.stringify(content);
  return `${checksum(json)}\n${json}`;
}

function contentOf(owner: Owner, fields: string, text: string) {
  const end = text.indexOf('\n');
  const json = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== checksum(json)) return null;
  const content = parse(json);
  if (content === null || content.format !== FORMAT || content.fields !== fields) return null;
  return content.login === owner.login && content.group === owner.group ? content : null;
}

function isStep(value: unknown): value is Step {
  if (!isObject(value) || !isObject(value.from)) return false;
  const { version, removed, upserted } = value;
  const isOfVersion = typeof version === 'string' && version !== '';
  return (
    isOfVersion && Array.isArray(removed) && Array.isArray(upserted) && upserted.every(isInstrument)
  );
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

/** FNV-1a with the length: it finds damage, and needs no more since nobody gains by forging a copy. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return `${text.length.toString(36)}-${(hash >>> 0).toString(36)}`;
}
