import { INSTRUMENT_FIELDS } from '../generated/rows.ts';
import type { TypedText } from '../operation.ts';
import type { CopyChanges } from './catalog-copy.ts';
import type { InstrumentField, KeyFields } from './instrument.ts';

export interface OwnerData {
  readonly session: { readonly login: string; readonly group: string | null } | null;
}

export interface ChangesData<Upserted> {
  readonly catalog: (CatalogHead & { readonly changes: CopyChanges<Upserted> }) | null;
}

interface CatalogHead {
  readonly group: string;
  readonly ageSeconds: number;
  readonly size: number;
}

export interface PageData {
  readonly catalog: { readonly group: string; readonly version: string } | null;
  readonly instruments: { readonly nodes: readonly KeyFields[] } | null;
}

/** The documents of one choice of fields. */
export interface CatalogDocuments {
  readonly owner: TypedText<OwnerData, Record<string, never>>;
  readonly changes: TypedText<ChangesData<KeyFields>, { since: string }>;
  /** The same with ids alone, which even a large catalog can be asked for at once. */
  readonly changedIds: TypedText<ChangesData<{ readonly id: string }>, { since: string }>;
  readonly page: TypedText<PageData, { ids: readonly string[]; first: number }>;
}

export function catalogDocuments(
  fields: readonly InstrumentField[] = INSTRUMENT_FIELDS,
): CatalogDocuments {
  const selected = fields.join(' ');
  return {
    owner: 'query TradingGraphCatalogOwner{session{login group}}',
    changes: changesDocument('TradingGraphCatalog', selected),
    changedIds: changesDocument('TradingGraphCatalogIds', 'id'),
    page: `query TradingGraphCatalogPage($ids:[ID!]!,$first:Int!){catalog{group version}instruments(first:$first,filter:{ids:$ids}){nodes{${selected}}}}`,
  };
}

function changesDocument(name: string, fields: string): string {
  return `query ${name}($since:String!){catalog{group ageSeconds size changes(since:$since){reset removed upserted{${fields}}version}}}`;
}
