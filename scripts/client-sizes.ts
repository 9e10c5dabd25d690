// Measures what each entry of the client takes in a bundle, and writes the table of client/README.md: `npm run docs -- sizes`.
import { readFileSync, writeFileSync } from 'node:fs';
import { bundleByMetro } from '../client/test/support/bundlers.ts';
import {
  metroSizes,
  README,
  sizesTable,
  TABLE,
  viteSizes,
} from '../client/test/support/client-sizes.ts';
import { appOfAll, packClient } from '../client/test/support/packed-client.ts';

await using packed = await packClient();
packed.write('index.js', appOfAll());
const metro = metroSizes(await bundleByMetro('metro', packed, 'index.js'));
const table = sizesTable(await viteSizes(), metro);
const text = readFileSync(README, 'utf8');
writeFileSync(
  README,
  text.replace(TABLE, () => table),
);
console.log(table);
