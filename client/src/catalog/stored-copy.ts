import { CatalogCopy } from './catalog-copy.ts';
import { KEY_FIELDS, type KeyFields } from './instrument.ts';

/** The account that a copy belongs to; its group decides which instruments there are, and on what terms. */
export interface Owner {
  readonly login: string;
  readonly group: string;
}

/** A copy, and how old it was when. */
export interface AgedCopy {
  readonly copy: CatalogCopy<KeyFields>;
  readonly ageSeconds: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

const FORMAT = 1;
const PREFIX = 'trading-graph:catalog:';

export function storageKey({ login, group }: Owner): string {
  return `${PREFIX}${JSON.stringify([login, group])}`;
}

/** How the keys of the account's copies begin, for whatever group. */
export function accountPrefix(login: string): string {
  return `${PREFIX}[${JSON.stringify(login)},`;
}

/** Version and instruments are one text with a checksum, so that they belong together whatever the storage does. */
export function toText(owner: Owner, fields: string, { copy, ageSeconds, atMs }: AgedCopy): string {
  const { version, all } = copy;
  const content = { format: FORMAT, ...owner, fields, version, ageSeconds, atMs, instruments: all };
  const json = JSON.stringify(content);
  return `${checksum(json)}\n${json}`;
}

/** Null where the text is damaged, another owner's, of other fields or of another version of this package. */
export function fromText(owner: Owner, fields: string, text: string): AgedCopy | null {
  const end = text.indexOf('\n');
  const json = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== checksum(json)) return null;
  const content = parse(json);
  if (content === null || content.format !== FORMAT || content.fields !== fields) return null;
  if (content.login !== owner.login || content.group !== owner.group) return null;
  const { version, ageSeconds, atMs, instruments } = content;
  if (typeof version !== 'string' || version === '' || !Array.isArray(instruments)) return null;
  if (!isAmount(ageSeconds) || !isAmount(atMs) || !instruments.every(isInstrument)) return null;
  const byId = new Map(instruments.map((instrument) => [instrument.id, instrument]));
  return { copy: new CatalogCopy(version, byId), ageSeconds, atMs };
}

function parse(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const content: unknown = JSON.parse(json);
    return isObject(content) ? content : null;
  } catch {
    return null;
  }
}

function isInstrument(value: unknown): value is KeyFields {
  return isObject(value) && KEY_FIELDS.every((field) => typeof value[field] === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
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
