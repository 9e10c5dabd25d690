import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  Kind,
  KnownDirectivesRule,
  NoUnusedFragmentsRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../src/graphiql/page/examples.js';
import { createSampleProject } from '../support/sample-project.ts';
import { readPage, type Sample } from '../support/samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const PAGES = globSync(['README.md', 'client/README.md', 'docs/**/*.md'], { cwd: root }).sort();
const PROGRAMS = new Set(['ts', 'tsx', 'js', 'jsx']);
const DOCUMENT = /(['`])(\s*(?:\{|(?:query|mutation|subscription|fragment)\b)[^'`]*)\1/g;

const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
// Another sample often uses a fragment, and only Relay's compiler knows its directives.
const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== KnownDirectivesRule,
);

/** A GraphQL document: a block of its own, or a text in a program. */
interface SampleDocument {
  readonly place: string;
  readonly text: string;
}

const documentsIn = (page: string) => readPage(page).samples.flatMap(documentsOf);

function documentsOf({ page, line, language, text }: Sample): readonly SampleDocument[] {
  if (language === 'graphql') return [{ place: `${page}:${line}`, text }];
  if (!PROGRAMS.has(language)) return [];
  return [...text.matchAll(DOCUMENT)].flatMap(({ 2: found = '', index }) => {
    const before = text.slice(0, index).split('\n').length - 1;
    return isDocument(found) ? [{ place: `${page}:${line + before}`, text: found }] : [];
  });
}

function isDocument(text: string): boolean {
  try {
    return parse(text) !== null;
  } catch {
    return false;
  }
}

/** The errors in the documents of one page, which share their fragments. */
function problemsOf(documents: readonly SampleDocument[]): readonly string[] {
  const parsed = documents.map(({ place, text }) => ({ place, document: parse(text) }));
  const fragments = parsed
    .flatMap(({ document }) => document.definitions)
    .filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return parsed.flatMap(({ place, document }) => {
    const others = fragments.filter((each) => !document.definitions.includes(each));
    const whole = { ...document, definitions: [...document.definitions, ...others] };
    return validate(schema, whole, rules).map(({ message }) => `${place}: ${message}`);
  });
}

test.each(PAGES.filter((page) => documentsIn(page).length > 0))(
  'the GraphQL of %s is valid',
  (page) => {
    expect(problemsOf(documentsIn(page))).toEqual([]);
  },
);

test('the operations with which GraphiQL opens are valid', () => {
  const problems = EXAMPLES.flatMap(({ query }) => problemsOf([{ place: query, text: query }]));
  expect(problems).toEqual([]);
});

// empty-folder.test.ts and frameworks.test.ts run the frameworks' compilers.
test.each([
  ['client/README.md', undefined],
  ['docs/clients.md', 'React'],
  ['docs/clients.md', 'Apollo Client'],
  ['docs/clients.md', 'React Native'],
] as const)(
  'the programs of %s (%s) compile strictly as parts of a new app',
  async (page, section) => {
    await using project = await createSampleProject(page, section);
    expect(await project.compile()).toBe('');
  },
  300_000,
);
