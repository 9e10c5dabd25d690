// Compares the schema with that of the last release, of a file, or of stdin (`-`). It exits with 1 if a valid document may
// become invalid, so that CI can hold a release back.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  BreakingChangeType,
  DangerousChangeType,
  findSchemaChanges,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  buildSchema as schemaOf,
} from 'graphql';
import { buildSchema, printedSchema } from '../src/schema/schema.ts';

const [path] = process.argv.slice(2);
const before = readSchema(path);
const now = schemaOf(printedSchema(buildSchema()));
let breaks = false;
for (const { type, description } of findSchemaChanges(before, now)) {
  const kind = kindOf(type, description);
  breaks ||= kind === 'breaking';
  console.log(`${kind.padEnd(9)}  ${description}`);
}
process.exitCode = breaks ? 1 : 0;

function kindOf(type: string, description: string): string {
  if (type in BreakingChangeType) return wasDeprecated(description) ? 'announced' : 'breaking';
  return type in DangerousChangeType ? 'dangerous' : 'safe';
}

/** Whether the change removes a deprecated element. graphql names the element only in the description. */
function wasDeprecated(description: string): boolean {
  const removed = /^(?:Field|Argument|Enum value) (\w+)\.(\w+)(?:\((\w+):\))? was removed\.$/;
  const [, typeName = '', name = '', argument] = removed.exec(description) ?? [];
  const type = before.getType(typeName);
  if (isEnumType(type)) return type.getValue(name)?.deprecationReason != null;
  if (isInputObjectType(type)) return type.getFields()[name]?.deprecationReason != null;
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const field = type.getFields()[name];
  const removedElement =
    argument === undefined ? field : field?.args.find((each) => each.name === argument);
  return removedElement?.deprecationReason != null;
}

function readSchema(path: string | undefined): GraphQLSchema {
  const source = path ?? `${lastRelease()}:schema.graphql`;
  try {
    if (path === undefined) return schemaOf(git('show', source));
    const stdin = 0;
    return schemaOf(readFileSync(path === '-' ? stdin : path, 'utf8'));
  } catch (error) {
    fail(`${source} is no schema that can be read: ${(error as Error).message}`);
  }
}

function lastRelease(): string {
  try {
    return git('describe', '--tags', '--match', 'v[0-9]*', '--abbrev=0').trim();
  } catch {
    fail('there is no tag of a release: npm run schema:changes -- <old.graphql>, or - for stdin');
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
