import type { CatalogView } from '../domain/catalog/catalog-view.ts';
import { builder } from './builder.ts';
import { InstrumentRef } from './instrument.ts';
import { perInstrument } from './list-sizes.ts';
import { perCopy, perGroup } from './sharing.ts';

export const CatalogRef = builder.objectRef<CatalogView>('Catalog').implement({
  description:
    'All instruments of the viewer’s group. The gateway’s copy may be up to an hour old; this says how old it is known to be.',
  fields: (t) => ({
    id: t.id({
      ...perGroup,
      nullable: false,
      description: 'The group, for client caches.',
      resolve: ({ group }) => group,
    }),
    group: t.exposeString('group', {
      ...perGroup,
      nullable: false,
      description: 'The account group.',
    }),
    version: t.string({
      ...perGroup,
      nullable: false,
      description: 'Names the content: two catalogs with the same instruments have the same one.',
      resolve: ({ version }) => version.version,
    }),
    fetchedAt: t.expose('fetchedAt', {
      ...perCopy,
      type: 'DateTime',
      nullable: false,
      description: 'When the facade asked the gateway for it, or last had it confirmed.',
    }),
    expiresAt: t.expose('expiresAt', {
      ...perCopy,
      type: 'DateTime',
      nullable: false,
      description: 'Until when it counts as fresh.',
    }),
    ageSeconds: t.exposeInt('ageSeconds', {
      ...perCopy,
      nullable: false,
      description:
        'How old it is at least. Where the gateway sends no `Age`, its own copy may have been up to an hour older.',
    }),
    stale: t.exposeBoolean('stale', {
      ...perCopy,
      nullable: false,
      description: 'Whether it is past its time and serves because no newer one could be had.',
    }),
    size: t.int({
      ...perGroup,
      nullable: false,
      description: 'How many instruments it has.',
      resolve: ({ version }) => version.size,
    }),
    skipped: t.exposeInt('skipped', {
      ...perCopy,
      nullable: false,
      description: 'How many the gateway sent that break its interface and were left out.',
    }),
    unknownValues: t.exposeInt('unknownValues', {
      ...perGroup,
      nullable: false,
      description:
        'How many values the gateway sent that an enum here lacks, such as a new `shariaStatus`. They are null.',
    }),
    instruments: t.field({
      extensions: { ...perGroup.extensions, ...perInstrument },
      type: [InstrumentRef],
      nullable: false,
      description: 'All of them, by symbol. For lists on a screen there is `instruments`.',
      resolve: ({ version }) => version.instruments,
    }),
  }),
});

builder.queryField('catalog', (t) =>
  t.field({
    ...perGroup,
    type: CatalogRef,
    nullable: true,
    description: 'The catalog of the viewer’s group.',
    resolve: (_root, _args, { scope }) => scope.catalog(),
  }),
);
