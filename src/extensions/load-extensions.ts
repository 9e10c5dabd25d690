import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GraphQLSchema } from 'graphql';
import type { CodeTraits } from '../../engine/errors/codes.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { buildSchema } from '../schema/schema.ts';
import { createKit, VERSION } from './create-kit.ts';
import { confine, fieldNames } from './extension-fields.ts';

/** The whole graph, with what the extensions have added to it. */
export interface Extensions {
  readonly schema: GraphQLSchema;
  readonly backends: readonly BackendSettings[];
  readonly codes: Readonly<Record<string, CodeTraits & { readonly advice: string }>>;
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

/** The graph of the contract alone. */
export function unextended(): Extensions {
  return { schema: buildSchema(), backends: [], codes: {} };
}

/** Called once in a process: types enter the one builder of the schema, and never leave it. */
export async function loadExtensions(files: readonly string[]): Promise<Extensions> {
  if (files.length === 0) return unextended();
  const own = fieldNames(buildSchema());
  const { kit, backends, codes } = createKit();
  let schema: GraphQLSchema | undefined;
  for (const file of files) {
    try {
      await (await extensionIn(file))(kit);
      // After each, so that a name that is there twice is told of with its file.
      schema = buildSchema();
      confine(schema, own);
    } catch (error) {
      throw error instanceof ExtensionError ? error : new ExtensionError(file, reasonOf(error));
    }
  }
  return { schema: schema ?? buildSchema(), backends: [...backends.values()], codes };
}

async function extensionIn(file: string): Promise<(kit: unknown) => unknown> {
  const path = resolve(file);
  if (!existsSync(path)) throw new ExtensionError(file, 'missing');
  const { default: extension, kitVersion = VERSION } = await import(pathToFileURL(path).href);
  if (typeof extension !== 'function') throw new ExtensionError(file, 'exporting no function');
  if (kitVersion !== VERSION) {
    throw new ExtensionError(file, `for version ${kitVersion} of the kit, and this is ${VERSION}`);
  }
  return extension;
}
