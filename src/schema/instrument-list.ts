import type { CatalogChanges } from '../domain/catalog/catalog-version.ts';
import type { CatalogView } from '../domain/catalog/catalogs.ts';
import type {
  InstrumentConnection,
  InstrumentEdge,
  PageInfo,
} from '../domain/catalog/paging/page.ts';
import { traits } from '../lib/field-traits.ts';
import { builder, exposed, exposedOf, nonNull, nullable, perInstrument } from './builder.ts';
import { InstrumentRef, ShariaStatus } from './instrument.ts';

export const CatalogRef = builder.objectRef<CatalogView>('Catalog').implement({
  description:
    'All instruments of the viewer’s group. The gateway’s copy may be up to an hour old; `ageSeconds` is its known age.',
  fields: (t) => ({
    id: t.id({
      ...nonNull('The group, for client caches.'),
      resolve: ({ group }) => group,
    }),
    ...exposed(t, { 'String!': { group: 'The account group.' } }),
    ...exposedOf(t, ({ version }) => version, {
      'String!': {
        version:
          'Identifies the content: catalogs with the same instruments have the same version.',
      },
      'Int!': { size: 'The number of instruments.' },
    }),
    ...exposed(t, {
      'DateTime!': {
        fetchedAt: 'When the facade requested it from the gateway, or last had it confirmed.',
        expiresAt: 'Until when it counts as fresh.',
      },
      'Int!': {
        ageSeconds:
          'Its minimum age. If the gateway sends no `Age`, its own copy may have been up to an hour older.',
        skipped:
          'The number of instruments that were left out because they break the gateway’s interface.',
      },
      'Boolean!': {
        stale:
          'True if the catalog has expired and is served because no newer one could be fetched.',
      },
    }),
    instruments: t.field({
      ...traits(perInstrument),
      type: [InstrumentRef],
      nullable: false,
      description: 'All instruments, by symbol. Use the query `instruments` for lists on a screen.',
      resolve: ({ version }) => version.instruments,
    }),
  }),
});

builder.queryField('catalog', (t) =>
  t.field({
    ...nullable('The catalog of the viewer’s group.'),
    type: CatalogRef,
    resolve: (_root, _args, { scope }) => scope.catalog(),
  }),
);

const InstrumentFilter = builder.inputType('InstrumentFilter', {
  description:
    'Selects instruments. An absent field does not filter; an empty list finds no instrument.',
  fields: (t) => ({
    search: t.string({
      description:
        'Words of the symbol, the name or the description. Case, accents and a typo do not matter; each word must be found. A currency pair is found by either currency, and by both as `EURUSD` or `EUR USD`.',
    }),
    ids: t.idList({ description: 'Any of these ids.' }),
    sectors: t.floatList({ description: 'Any of these sectors.' }),
    industries: t.floatList({ description: 'Any of these industries.' }),
    shariaStatuses: t.field({ type: [ShariaStatus], description: 'Any of these verdicts.' }),
    sharia: t.boolean({ description: 'Sharia-compliant, or not.' }),
    delayed: t.boolean({ description: 'With delayed prices, or not.' }),
    pdt: t.boolean({ description: 'Under day-trading rules, or not.' }),
  }),
});

const InstrumentOrderBy = builder.enumType('InstrumentOrderBy', {
  description: 'The sort key of instruments; ties are sorted by id.',
  values: {
    RELEVANCE: {
      description:
        'The quality of the match, with `ASC` the best first: the symbol itself, its beginning, a word of the name, the description, a typo. Without a search it equals `SYMBOL`.',
    },
    SYMBOL: { description: 'The symbol.' },
    NAME: { description: 'The name.' },
    LEVERAGE: { description: 'The leverage.' },
  },
});

const SortDirection = builder.enumType('SortDirection', {
  description: 'The direction of the sort.',
  values: {
    ASC: { description: 'From the smallest to the largest.' },
    DESC: { description: 'From the largest to the smallest.' },
  },
});

const InstrumentOrder = builder.inputType('InstrumentOrder', {
  description: 'The sort order of instruments.',
  fields: (t) => ({
    by: t.field({ type: InstrumentOrderBy, required: true, description: 'The sort key.' }),
    direction: t.field({ type: SortDirection, description: '`ASC` by default.' }),
  }),
});

const PageInfoRef = builder.objectRef<PageInfo>('PageInfo').implement({
  description: 'The position of a page in its list.',
  fields: (t) =>
    exposed(t, {
      'Boolean!': {
        hasNextPage: 'Whether instruments follow this page.',
        hasPreviousPage: 'Whether instruments precede this page.',
      },
      String: {
        startCursor: 'The cursor of the first instrument on the page; null on an empty page.',
        endCursor: 'The cursor of the last instrument on the page; null on an empty page.',
      },
    }),
});

const InstrumentEdgeRef = builder.objectRef<InstrumentEdge>('InstrumentEdge').implement({
  description: 'An instrument at its position in a list.',
  fields: (t) => ({
    cursor: t.string({
      ...nonNull('Identifies the position. It stays valid when the catalog is renewed.'),
      resolve: ({ cursor }) => cursor(),
    }),
    node: t.expose('node', { ...nonNull('The instrument.'), type: InstrumentRef }),
  }),
});

const InstrumentConnectionRef = builder
  .objectRef<InstrumentConnection>('InstrumentConnection')
  .implement({
    description: 'A page of instruments.',
    fields: (t) => ({
      edges: t.expose('edges', {
        ...nonNull('The instruments with their cursors.'),
        type: [InstrumentEdgeRef],
      }),
      nodes: t.expose('nodes', {
        ...nonNull('The instruments without cursors.'),
        type: [InstrumentRef],
      }),
      pageInfo: t.expose('pageInfo', {
        ...nonNull('The position of the page.'),
        type: PageInfoRef,
      }),
      totalCount: t.exposeInt('totalCount', nonNull('The number of instruments on all pages.')),
    }),
  });

const CatalogChangesRef = builder.objectRef<CatalogChanges>('CatalogChanges').implement({
  description: 'The changes from a client’s version to the present one.',
  fields: (t) => ({
    ...exposed(t, {
      'String!': { version: 'The present version: the next `since`.' },
      'Boolean!': {
        reset:
          'Whether the client’s version is no longer known. If so, replace all instruments by `upserted`, which is the whole catalog.',
      },
      '[ID!]!': { removed: 'The ids of the instruments that were removed.' },
    }),
    upserted: t.expose('upserted', {
      ...traits(perInstrument),
      type: [InstrumentRef],
      nullable: false,
      description: 'The instruments that are new or have changed.',
    }),
  }),
});

builder.objectField(CatalogRef, 'changes', (t) =>
  t.field({
    type: CatalogChangesRef,
    nullable: false,
    description:
      'The changes since an earlier version, so that a client need not load the whole catalog again.',
    args: { since: t.arg.string({ required: true, description: 'The client’s version.' }) },
    resolve: (catalog, { since }) => catalog.changes(since),
  }),
);

builder.queryField('instruments', (t) =>
  t.field({
    type: InstrumentConnectionRef,
    nullable: true,
    description:
      'Instruments of the viewer’s catalog: searched, filtered, sorted and paged here, without a call of the gateway. Pages run in one direction at a time.',
    args: {
      first: t.arg.int({
        description:
          'The number of instruments from the front, 0 to 500; 50 if neither `first` nor `last` is given.',
      }),
      after: t.arg.string({ description: 'Only instruments after this cursor.' }),
      last: t.arg.int({ description: 'The number of instruments from the back, 0 to 500.' }),
      before: t.arg.string({ description: 'Only instruments before this cursor.' }),
      filter: t.arg({
        ...traits({ scans: perInstrument.listSize }),
        type: InstrumentFilter,
        description: 'The filter.',
      }),
      orderBy: t.arg({ type: InstrumentOrder, description: 'The sort order.' }),
    },
    resolve: (_root, args, context) =>
      context.scope.instruments(args, (count) => context.scanned(count)),
  }),
);
