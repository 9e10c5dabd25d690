// Prints the graph into schema.graphql, so that each change of it is seen in a review. With
// `--check` nothing is written: it fails where the file and the code differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, printedSchema } from '../src/schema/schema.ts';

const PATH = join(import.meta.dirname, '..', 'schema.graphql');

export function schemaFile(): string {
  return `${printedSchema(buildSchema())}\n`;
}

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(PATH, schemaFile());
  else if (readFileSync(PATH, 'utf8') !== schemaFile()) {
    console.error('schema.graphql is not what the code says: run `npm run docs`');
    process.exitCode = 1;
  }
}
