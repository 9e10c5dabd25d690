import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { runTool } from '../support/run-tool.ts';
import {
  checkoutFiles,
  createSampleProject,
  OF_CHECKOUT,
  PAGES,
} from '../support/sample-project.ts';
import { type Sample, samplesOf } from '../support/samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const PROGRAMS = new Set(['ts', 'tsx', 'js', 'jsx']);
const DOCUMENT = /(['`])(\s*(?:\{|(?:query|mutation|subscription|fragment)\b)[^'`]*)\1/g;

const schema = buildSchema(pageText('schema.graphql'));
// Another sample often uses a fragment, and only Relay's compiler knows its directives.
const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== KnownDirectivesRule,
);

/** A GraphQL document: a block of its own, or a text in a program. */
interface SampleDocument {
  readonly place: string;
  readonly text: string;
}

const documentsIn = (page: string) => samplesOf(page).flatMap(documentsOf);

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

test.each(PAGES.filter((page) => !OF_CHECKOUT.has(page) && documentsIn(page).length > 0))(
  'the GraphQL of %s is valid',
  (page) => {
    expect(problemsOf(documentsIn(page))).toEqual([]);
  },
);

test('the operations with which GraphiQL opens are valid', () => {
  const problems = EXAMPLES.flatMap(({ query }) => problemsOf([{ place: query, text: query }]));
  expect(problems).toEqual([]);
});

test('the TypeScript of all pages compiles strictly, each section as a new app', async () => {
  await using project = await createSampleProject();
  const pages = new Set(project.samples.map(({ page }) => page));
  expect([...pages]).toEqual(expect.arrayContaining(['CONTRIBUTING.md', 'docs/your-own.md']));
  await project.compile();
}, 300_000);

test('the test of the first hour passes with its field, as CONTRIBUTING.md prints both', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'first-hour-'));
  const checkout = folder.path;
  // Not all of the checkout: other suites write files in it.
  for (const part of ['src', 'test', 'client/src', 'package.json', 'vitest.config.ts']) {
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const samples = samplesOf('CONTRIBUTING.md');
  for (const [file, text] of checkoutFiles(samples.filter(({ language }) => language === 'ts'))) {
    writeFileSync(join(checkout, file), text);
  }
  const [, command = ''] = /`npm test -- (test\/\S+)`/.exec(pageText('CONTRIBUTING.md')) ?? [];
  const args = ['run', command, '-t', 'cryptocurrency'];
  expect(await runTool('vitest/vitest.mjs', args, checkout)).toMatch(/Tests .*1 passed/);
}, 300_000);

function pageText(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
