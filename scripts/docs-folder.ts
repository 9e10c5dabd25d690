// Writes the documentation as a folder of pages for any web server: `npm run docs -- site <folder>`.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { schemaPage } from '../graphiql/schema-page.ts';
import { buildDocs } from '../graphiql/server/build-docs.ts';
import { buildSchema } from '../src/schema/schema.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Say into which folder: npm run docs -- site <folder>');
  process.exit(2);
}
const docs = await buildDocs(join(import.meta.dirname, '..'), {
  hasService: false,
  made: new Map([['docs/schema.md', schemaPage(buildSchema(), { hasService: false })]]),
});
const placeOf = (path: string) => {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  return place;
};
for (const path of docs.paths) writeFileSync(placeOf(`${path}/index.html`), docs.page(path) ?? '');
for (const [path, { text }] of docs.assets) writeFileSync(placeOf(path), text);
for (const [path, file] of docs.files) copyFileSync(file, placeOf(path));
console.log(
  `${docs.paths.length} pages are in ${join(folder, 'docs')}; serve ${folder} as the root of a host`,
);
