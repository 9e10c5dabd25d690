import type { CatalogView } from '../domain/catalog/catalogs.ts';
import { traits } from '../lib/field-traits.ts';
import { builder } from './builder.ts';
import { exposed, exposedOf } from './exposed.ts';
import { nonNull, nullable, perInstrument } from './field-options.ts';
import { InstrumentRef } from './instrument.ts';

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
