// Compares the schema with that of the last release, of a file, or of stdin (`-`). It exits with 1 if a valid document may
// become invalid and no line `Breaking: …` of the changelog names the element, so that CI can hold a release back.
import { existsSync, readFileSync } from 'node:fs';
import { type GraphQLSchema, buildSchema as schemaOf } from 'graphql';
import { buildSchema, printedSchema } from '../src/schema/schema.ts';
import { breakingLines, sectionOf, UNRELEASED } from './release/changelog.ts';
import { compareSchemas } from './release/compare-schemas.ts';
import { git, lastRelease } from './release/git.ts';

const [path] = process.argv.slice(2);
const before = readSchema(path);
const now = schemaOf(printedSchema(buildSchema()));
const changelog = existsSync('CHANGELOG.md') ? readFileSync('CHANGELOG.md', 'utf8') : '';
const named = breakingLines(sectionOf(changelog, UNRELEASED));
const changes = compareSchemas(before, now, named);
for (const { kind, description } of changes) console.log(`${kind.padEnd(9)}  ${description}`);
process.exitCode = changes.some(({ kind }) => kind === 'breaking') ? 1 : 0;

function readSchema(path: string | undefined): GraphQLSchema {
  const source = path ?? `${lastTag()}:schema.graphql`;
  try {
    if (path === undefined) return schemaOf(git('show', source));
    const stdin = 0;
    return schemaOf(readFileSync(path === '-' ? stdin : path, 'utf8'));
  } catch (error) {
    return fail(`${source} is no schema that can be read: ${(error as Error).message}`);
  }
}

function lastTag(): string {
  const old = 'npm run schema:changes -- <old.graphql>, or - for stdin';
  return lastRelease() ?? fail(`there is no tag of a release: ${old}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
