import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../graphiql/page/examples.js';
import { documentsOf, problemsOf } from '../support/sample-documents.ts';
import { createSampleProject } from '../support/sample-project.ts';
import { readPage } from '../support/samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const PAGES = globSync(['README.md', 'client/README.md', 'docs/**/*.md'], { cwd: root }).sort();
const GUIDES = PAGES.filter((page) => page.startsWith('docs/clients/'));
const COMPILED = new Set(['ts', 'tsx']);
// GraphQL is validated and JSON parsed below. Commands and plain JavaScript run from an empty folder.
const OTHERWISE = new Set(['graphql', 'js', 'json', 'sh']);

const documentsIn = (page: string) => readPage(page).samples.flatMap(documentsOf);

const WITH_GRAPHQL = PAGES.filter((page) => documentsIn(page).length > 0);

test.each(WITH_GRAPHQL)(
  'the GraphQL of %s is valid, and selects the id of all that has one',
  (page) => {
    expect(problemsOf(documentsIn(page))).toEqual([]);
  },
);

test('the operations with which GraphiQL opens are valid, and select ids', () => {
  const documents = EXAMPLES.map(({ query }, index) => ({
    place: `example ${index}`,
    text: query,
  }));
  expect(documents.flatMap((document) => problemsOf([document]))).toEqual([]);
});

test.each(GUIDES)('every block of %s is compiled, validated or parsed', (page) => {
  for (const { language, line, text } of readPage(page).samples) {
    const place = `${page}:${line}`;
    expect([...COMPILED, ...OTHERWISE], place).toContain(language);
    if (language === 'json') expect(() => JSON.parse(text), place).not.toThrow();
  }
});

const WITH_PROGRAMS = [...GUIDES, 'client/README.md'].filter((page) =>
  readPage(page).samples.some(({ language }) => COMPILED.has(language)),
);

test.each(WITH_PROGRAMS)(
  'the programs of %s compile strictly as parts of a new app',
  async (page) => {
    using project = await createSampleProject(page);
    await project.generate();
    expect(await project.compile()).toBe('');
  },
  300_000,
);
