import type { CatalogChange } from '../../../../sandbox/catalog.ts';
import { line, type SceneRow } from '../scene.ts';

/** As an hour: what the gateway changes is fetched within seconds. */
const environment = { CATALOG_MAX_AGE_SECONDS: '10' };

const changed = (change: CatalogChange, back: CatalogChange) => ({
  environment,
  begin: async ({ gateway }: Parameters<SceneRow['begin']>[0]) => gateway.changeCatalog(change),
  end: async ({ gateway }: Parameters<SceneRow['end']>[0]) => gateway.changeCatalog(back),
});

/** Of 100 instruments, and a few that other groups have. */
export const CATALOG_SCENES: readonly SceneRow[] = [
  {
    title: 'The catalog has lost a fifth of its instruments',
    alerts: ['TradingGraphCatalogWrong'],
    ...changed({ remove: 25 }, { add: 25 }),
  },
  {
    title: 'Three rows in ten of the catalog are broken',
    alerts: ['TradingGraphCatalogWrong'],
    lines: [line('instruments were left out')],
    ...changed({ broken: 30 }, { broken: 0 }),
  },
  {
    title: 'The catalog has shrunk to a quarter',
    alerts: ['TradingGraphCatalogWrong'],
    lines: [line('a catalog with less than half of its instruments is kept out')],
    ...changed({ remove: 80 }, { add: 80 }),
  },
];
