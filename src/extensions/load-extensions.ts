import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assertValidSchema, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import type { CodeTraits } from '../../lib/error-traits.ts';
import { extensionNames, registerExtension, runInExtension } from '../../lib/extension-code.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { federated } from '../schema/federation.ts';
import { buildSchema, printedSchema } from '../schema/schema.ts';
import { createKit, VERSION } from './create-kit.ts';
import { defaultOf, LOAD_MS, loadedWithin, takeModulesAnywhere } from './es-modules.ts';
import { type Additions, confine, elementNames, exposedBy, givenOf } from './extension-fields.ts';
import { fault } from './faults.ts';
import type { DeclaredList } from './live.ts';

/** The whole graph, with what the extensions have added to it. */
export interface Extensions {
  readonly schema: GraphQLSchema;
  readonly backends: readonly BackendSettings[];
  readonly codes: Readonly<Record<string, CodeTraits & { readonly advice: string }>>;
  readonly lists: readonly DeclaredList[];
  /** The names of their files, without the ending. */
  readonly names: readonly string[];
  /** Their fields, as errors name them: `alerts.priceAlerts`. */
  readonly fields: readonly string[];
}

/** Stops the start: a file of an extension cannot be used. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError';
  readonly file: string;

  constructor(file: string, reason: string) {
    super(reason);
    this.file = file;
  }
}

/**
 * Called once in a process: types never leave the schema's builder. `timeoutMs`: the longest that a field may take; `loadMs`:
 * that a file may, which can wait at its top level for what never comes.
 */
export async function loadExtensions(
  files: readonly string[],
  timeoutMs: number,
  { loadMs = LOAD_MS, isSubgraph = false } = {},
): Promise<Extensions> {
  let schema = buildSchema();
  const ownTypes = Object.values(schema.getTypeMap());
  const contract = elementNames(schema);
  const additions: Additions = new Map();
  const { kitFor, loaded, backends, codes, lists, elements } = createKit();
  if (files.length > 0) takeModulesAnywhere();
  const names = extensionNames(files);
  for (const [at, file] of files.entries()) {
    const path = resolve(file);
    const name = names[at] as string;
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
      throw new ExtensionError(file, `there is no file ${path}`);
    }
    const other = files[names.indexOf(name)];
    if (names.indexOf(name) !== at && other !== undefined)
      throw new ExtensionError(file, `${resolve(other)} and ${path} have one name, ${name}`);
    registerExtension(name, path);
    try {
      const load = async () => (await extensionIn(path))(kitFor(name));
      await loadedWithin(loadMs, runInExtension(name, load));
      const [added] = Object.keys(Object.prototype);
      // Libraries would take it for their own, and the first to do so end the process.
      if (added !== undefined) throw fault(`it gives every object a property ${added}`);
      // After each, so that a name that is there twice is told of with its file.
      schema = buildSchema();
      // GraphQL looks at a schema with the first request, and would answer none.
      assertValidSchema(schema);
      // It would be served, and introspection of it would fail.
      printedSchema(schema);
      if (isSubgraph) federated(schema);
      const again = ownTypes.find(
        (type) => schema.getType(type.name)?.description !== type.description,
      );
      if (again)
        throw fault(`the type ${again.name} is there already: builder.objectFields(…) adds to it`);
      for (const element of elementNames(schema)) {
        const isKnown = contract.has(element) || additions.has(element) || elements.has(element);
        if (!isKnown) additions.set(element, name);
      }
      for (const list of lists) checkMoving(schema, list);
      confine(schema, additions, timeoutMs);
      for (const { operations } of backends.values()) checkRefreshes(operations, lists);
      loaded.add(name);
    } catch (error) {
      throw new ExtensionError(file, `${reasonOf(error)}, in ${placeOf(error, path)}`);
    }
  }
  const fields = [...additions]
    .filter(([element]) => element.includes('.'))
    .map(([element, name]) => `${name}${element.slice(element.indexOf('.'))}`);
  return { schema, backends: [...backends.values()], codes, lists, names, fields };
}

function checkRefreshes(
  operations: BackendSettings['operations'],
  lists: readonly DeclaredList[],
): void {
  for (const [write, { refreshes }] of Object.entries(operations)) {
    const unknown = refreshes.find((name) => !lists.some((list) => list.name === name));
    if (unknown !== undefined) throw fault(`${write} refreshes ${unknown}, which is no live list`);
  }
}

/** A computed field may read any property: of a type that has one, nothing can be said. */
function checkMoving(schema: GraphQLSchema, { name, moving }: DeclaredList): void {
  const row = getNamedType(schema.getQueryType()?.getFields()[name]?.type);
  if (!isObjectType(row)) return;
  const fields = Object.values(row.getFields());
  if (fields.some((field) => givenOf(field).extensionIsComputed)) return;
  const exposed = fields.map(exposedBy).filter((property) => property !== null);
  const unknown = moving.find((property) => !exposed.includes(property));
  if (unknown !== undefined)
    throw fault(
      `moving of the live list ${name} must be of what ${row.name} exposes, ${exposed.join(', ')} (it has ${unknown})`,
    );
}

async function extensionIn(path: string): Promise<(kit: unknown) => unknown> {
  const module = await import(pathToFileURL(path).href);
  const { kitVersion = VERSION } = module;
  if (kitVersion !== VERSION) {
    throw new Error(`it is for version ${kitVersion} of the kit, and this is ${VERSION}`);
  }
  const extension = defaultOf(module);
  if (typeof extension !== 'function') throw new Error('its default export is no function');
  return extension;
}

/** The extension's file, with its line where the error's stack has one, or the file that cannot be parsed. */
function placeOf(error: unknown, path: string): string {
  const { stack = '' } = error instanceof Error ? error : {};
  const [, unparsed] = /^(?:file:\/\/)?(\/.*:\d+)\n/.exec(stack) ?? [];
  // Stacks have the path alone of a file of CommonJS.
  const place = [pathToFileURL(path).href, path].map((each) => stack.split(each)[1]).find(Boolean);
  const [, line = ''] = place?.match(/^(:\d+)/) ?? [];
  return unparsed ?? `${path}${line}`;
}
