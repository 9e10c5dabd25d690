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

export interface PartData {
  readonly catalog: (CatalogHead & { readonly version: string }) | null;
  readonly instruments: (Place & { readonly nodes: readonly KeyFields[] }) | null;
  readonly next: Place | null;
}

/** Where a page ends. */
interface Place {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
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
  /** The catalog piece by piece, each from the place where the one before ended; with the place where the next will end. */
  readonly part: TypedText<PartData, { first: number; after: string | null; ahead: number }>;
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
    part: `query TradingGraphCatalogPart($first:Int!,$after:String,$ahead:Int!){catalog{group version ageSeconds size}instruments(first:$first,after:$after){nodes{${selected}}pageInfo{hasNextPage endCursor}}next:instruments(first:$ahead,after:$after){pageInfo{hasNextPage endCursor}}}`,
    page: `query TradingGraphCatalogPage($ids:[ID!]!,$first:Int!){catalog{group version}instruments(first:$first,filter:{ids:$ids}){nodes{${selected}}}}`,
  };
}

function changesDocument(name: string, fields: string): string {
  return `query ${name}($since:String!){catalog{group ageSeconds size changes(since:$since){reset removed upserted{${fields}}version}}}`;
}
