import { readFileSync } from 'node:fs';
import type { Kind } from './assaults.ts';
import type { HostileDocument } from './hostile-client.ts';

export interface Attack extends HostileDocument {
  readonly name: string;
  readonly kind: Kind;
}

const INSTRUMENT =
  'id symbol name description logo access calc delayed digits industry leverage limit mCurrency mFx max min mode pCurrency pFx pdt quotes sector session step';
const TYPOS = 'inernational grop micrsoft comany '.repeat(8);
const SEARCHES = Array.from(
  { length: 20 },
  (_, at) =>
    `a${at}: instruments(first: 500, filter: { search: "${TYPOS}${at}" }) { totalCount nodes { id } }`,
);

/** What the others are compared with. */
export const NOBODY: Attack = { name: 'nobody', kind: 'nobody', text: '', variables: {} };

/** The worst that searches have found with the limits of today, and what people thought of. */
export const KNOWN_DOCUMENTS: readonly Attack[] = [
  { name: 'query: 92,000 fields of holdings', kind: 'query', ...found('query', {}) },
  { name: 'event: 139,000 fields', kind: 'event', ...found('event', { v3f861j: 50 }) },
  { name: 'unread: 200,000 fields', kind: 'unread', ...found('unread', { vbl7bsu: 0 }) },
  { name: 'many: 200,000 fields', kind: 'many', ...found('unread', { vbl7bsu: 0 }) },
  {
    name: 'unread: the whole catalog',
    kind: 'unread',
    text: `query Q { catalog { changes(since: "") { upserted { ${INSTRUMENT} } } } }`,
    variables: {},
  },
  {
    name: 'many: twenty searches for words with typos',
    kind: 'many',
    text: `query Q { ${SEARCHES.join(' ')} }`,
    variables: {},
  },
];

function found(name: string, variables: HostileDocument['variables']): HostileDocument {
  const text = readFileSync(new URL(`found/${name}.txt`, import.meta.url), 'utf8').trim();
  return { text, variables };
}

let written = 0;

/** Writes the document under another name each time, so that no cache serves it again. */
export function writerOf({ text, variables }: HostileDocument): () => HostileDocument {
  return () => {
    written += 1;
    return { text: text.replace(/ Q\b/, ` K${written}`), variables };
  };
}
