import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { documentId } from './document-id.ts';

/** Why a manifest of trusted documents cannot be used. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

const APOLLO = 'apollo-persisted-query-manifest';

/** All documents of a manifest, or of a folder of manifests, by their ids. */
export async function readManifests(path: string): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  for (const file of await filesOf(path)) {
    for (const [id, text] of entriesOf(file, await readJson(file))) {
      const known = documents.get(documentId(id));
      if (known !== undefined && known !== text) {
        throw new ManifestError(`${file}: the id ${id} has two different documents`);
      }
      documents.set(documentId(id), text);
    }
  }
  return documents;
}

async function filesOf(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path);
    return names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(path, name));
  } catch (error) {
    throw new ManifestError(`${path}: ${reasonOf(error)}`, { cause: error });
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new ManifestError(`${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Apollo's manifest, or plain `{ id: text }` as Relay and codegen write it. */
function entriesOf(file: string, manifest: unknown): [string, string][] {
  if (!isRecord(manifest)) throw new ManifestError(`${file}: it is no object`);
  if ('format' in manifest || 'operations' in manifest) return apolloEntries(file, manifest);
  return Object.entries(manifest).map(([id, text]) => {
    if (typeof text !== 'string') throw new ManifestError(`${file}: ${id} is no text`);
    return [id, text];
  });
}

function apolloEntries(
  file: string,
  { format, version, operations }: Record<string, unknown>,
): [string, string][] {
  if (format !== APOLLO || version !== 1 || !Array.isArray(operations)) {
    throw new ManifestError(`${file}: it is no ${APOLLO} of version 1`);
  }
  return operations.map((operation: unknown, index) => {
    const { id, body } = isRecord(operation) ? operation : {};
    if (typeof id !== 'string' || typeof body !== 'string') {
      throw new ManifestError(`${file}: operation ${index} has no id or no body`);
    }
    return [id, body];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
