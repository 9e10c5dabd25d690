import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import {
  type GraphQLAbstractType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
} from 'graphql';
import { ERROR_CODES } from '../src/lib/error-codes.ts';
import { buildSchema } from '../src/schema/schema.ts';
import { rowsOf } from './client-rows.ts';
import { textsFile } from './client-texts.ts';

const CLIENT = join(import.meta.dirname, '..', 'client');
export const ROWS = 'src/generated/rows.ts';
const LINE_WIDTH = 100;
const HEAD = '// Written by `npm run docs` from the code of the server.\n';

/** The files of the client's package that are generated from the server: their texts by path. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const schema = buildSchema();
  return new Map([
    ['src/generated/error-codes.ts', errorCodes()],
    ['src/generated/possible-types.ts', possibleTypes(schema)],
    [ROWS, rowsFile(schema)],
    ['src/generated/type-policies.ts', typePolicies(schema)],
    ['src/generated/types-without-id.ts', typesWithoutId(schema)],
    ['schema.json', schemaFile(schema)],
    ['texts.json', textsFile()],
    ['trusted-documents.json', await trustedDocuments(schema)],
  ]);
}

export function rowsFile(schema = buildSchema()): string {
  return `${HEAD}\n${rowsOf(schema)}`;
}

function errorCodes(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { retryable }]) => `  ${code}: ${retryable},`,
  );
  const about =
    "The server's error codes, and whether a request that failed with the code can succeed if it is repeated.";
  return `${constant(about, 'ERROR_CODES = {', rows, '} as const;')}
/** A code that the server answers with. */
export type ServerErrorCode = keyof typeof ERROR_CODES;
`;
}

function possibleTypes(schema: GraphQLSchema): string {
  const rows = typesOf(schema)
    .filter(isAbstractType)
    .flatMap((type) => {
      const names = possibleNames(schema, type).map((name) => `'${name}'`);
      const line = `  ${type.name}: [${names.join(', ')}],`;
      if (line.length <= LINE_WIDTH) return [line];
      return [`  ${type.name}: [`, ...names.map((name) => `    ${name},`), '  ],'];
    });
  const about = 'The object types of each interface and union, as a normalized cache needs them.';
  return constant(about, 'possibleTypes: Readonly<Record<string, string[]>> = {', rows, '};');
}

function typesWithoutId(schema: GraphQLSchema): string {
  const rows = namesWithoutId(schema).map((name) => `  '${name}',`);
  const about = 'The object types that a normalized cache stores inside their parent object.';
  return constant(about, 'typesWithoutId: readonly string[] = [', rows, '];');
}

function namesWithoutId(schema: GraphQLSchema): readonly string[] {
  return typesOf(schema)
    .filter((type) => isObjectType(type) && isPartOfOther(schema, type))
    .map(({ name }) => name);
}

/** What caches need to know of the schema, for tools and other languages. */
function schemaFile(schema: GraphQLSchema): string {
  const possible = typesOf(schema)
    .filter(isAbstractType)
    .map((type) => [type.name, possibleNames(schema, type)]);
  const facts = {
    possibleTypes: Object.fromEntries(possible),
    typesWithoutId: namesWithoutId(schema),
  };
  return `${JSON.stringify(facts, null, 2)}\n`;
}

function possibleNames(schema: GraphQLSchema, type: GraphQLAbstractType): readonly string[] {
  const names = schema.getPossibleTypes(type).map(({ name }) => name);
  return names.toSorted();
}

/** A file with one constant, and one line for each of its rows. */
function constant(about: string, begin: string, rows: readonly string[], end: string): string {
  return `${HEAD}\n/** ${about} */\nexport const ${begin}\n${rows.join('\n')}\n${end}\n`;
}

/** The schema's own types, by name. */
function typesOf(schema: GraphQLSchema): readonly GraphQLNamedType[] {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  return types.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function typePolicies(schema: GraphQLSchema): string {
  const rows = typesOf(schema)
    .filter((type) => isObjectType(type))
    .filter((type) => type !== schema.getMutationType())
    .flatMap((type) => {
      const lists = Object.values(type.getFields())
        .filter((field) => isListType(getNullableType(field.type)))
        .map(({ name }) => name);
      const members: string[] = [];
      if (isPartOfOther(schema, type)) members.push('...PART');
      if (lists.length > 0) members.push(`...lists('${lists.join(' ')}')`);
      return members.length > 0 ? [`  ${type.name}: { ${members.join(', ')} },`] : [];
    });
  return `${HEAD}
import type { TypePolicies, TypePolicy } from '@apollo/client/cache';

const PART = { keyFields: false, merge: true } as const;

/**
 * How Apollo's cache merges what has no key of its own. An object that may lack an id is part of the object that holds it, and
 * its fields are merged; a list is replaced by the newer one.
 */
export const generatedTypePolicies: TypePolicies = {
${rows.join('\n')}
};

function lists(names: string): TypePolicy {
  return { fields: Object.fromEntries(names.split(' ').map((name) => [name, { merge: false }])) };
}
`;
}

/** Whether a cache stores the objects of a type as parts of other objects, because they may lack an id of their own. */
function isPartOfOther(schema: GraphQLSchema, type: GraphQLObjectType): boolean {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  if (roots.includes(type)) return false;
  const id = type.getFields().id?.type;
  const alwaysHasId = id !== undefined && isNonNullType(id);
  return isTick(type) || !alwaysHasId;
}

/**
 * Whether a type is a tick, an update of a row. A tick has the id of the row but few of its fields, so a cache must not
 * store it under that id.
 */
function isTick({ name }: GraphQLNamedType): boolean {
  return name.endsWith('Tick');
}

/**
 * Makes a manifest of the client's own documents, which modules named `…-operation.ts`, `…operations.ts` or
 * `…documents.ts` export.
 */
async function trustedDocuments(schema: GraphQLSchema): Promise<string> {
  const paths = globSync('src/**/*{-operation,operations,documents}.ts', {
    cwd: CLIENT,
  }).toSorted();
  const modules = await Promise.all(
    paths.map((path) => import(join(CLIENT, path)) as Promise<Record<string, unknown>>),
  );
  const texts = modules.flatMap((module) => Object.values(module)).flatMap(textsOf);
  const operations = texts.map((body) => {
    const document = parse(body);
    const [invalid] = validate(schema, document);
    if (invalid) throw new Error(`${invalid.message}, in ${body}`);
    const operation = document.definitions.find(({ kind }) => kind === 'OperationDefinition');
    if (operation?.kind !== 'OperationDefinition' || !operation.name) {
      throw new Error(`an operation of the client has no name: ${body}`);
    }
    return [createHash('sha256').update(body).digest('hex'), body];
  });
  return `${JSON.stringify(Object.fromEntries(operations), null, 2)}\n`;
}

/** The operations in a module's exports: a text, an object of texts, or a function that makes one of them. */
function textsOf(exported: unknown): readonly string[] {
  // A function with parameters makes something else.
  const value: unknown =
    typeof exported === 'function' && exported.length === 0 ? exported() : exported;
  const texts = typeof value === 'object' && value !== null ? Object.values(value) : [value];
  return texts.filter(
    (text) => typeof text === 'string' && /^\s*(query|mutation|subscription)\b/.test(text),
  );
}
