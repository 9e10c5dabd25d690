import type { Kind } from './kinds.ts';
import type { Write } from './trial-ground.ts';

export interface KnownDocument {
  readonly name: string;
  readonly kind: Kind;
  readonly text: string;
}

const HOLDING = 'id symbol name side units priceCurrent invested createdAt updatedAt comment';
const INSTRUMENT =
  'id symbol name description logo access calc delayed digits industry leverage limit mCurrency mFx max min mode pCurrency pFx pdt quotes sector session step';
const TYPOS = 'inernational grop micrsoft comany '.repeat(8);

/** The worst in each way that the limits allow; searches have led to such documents again and again. */
export const KNOWN_DOCUMENTS: readonly KnownDocument[] = [
  {
    name: 'query: the positions in the instrument of each position',
    kind: 'query',
    text: 'query Q { positions { instrument { positions { id } } } }',
  },
  {
    name: 'event: the whole account, with the instrument of each holding',
    kind: 'event',
    text: `subscription Q { accountChanges { positions { upserted { ${HOLDING} instrument { ${INSTRUMENT} } } } orders { upserted { ${HOLDING} instrument { ${INSTRUMENT} } } } } }`,
  },
  {
    name: 'unread: the whole catalog',
    kind: 'unread',
    text: `query Q { catalog { changes(since: "") { upserted { ${INSTRUMENT} } } } }`,
  },
  {
    name: 'many: twenty searches for words with typos',
    kind: 'many',
    text: `query Q { ${Array.from({ length: 20 }, (_, at) => `a${at}: instruments(first: 500, filter: { search: "${TYPOS}${at}" }) { totalCount nodes { id } }`).join(' ')} }`,
  },
];

let written = 0;

/** Writes the document under another name each time, so that no cache serves it again. */
export function knownWriter(text: string): Write {
  return () => {
    written += 1;
    return { text: text.replace(' Q ', ` K${written} `), variables: {} };
  };
}
