import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../lib/is-object.ts';
import { readPlainFile } from '../../lib/read-plain-file.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { documentId } from './params.ts';

/** Lists why manifests of trusted documents cannot be used, one reason for each faulty file. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

// A larger file was configured by mistake: this is far above the documents of any team.
const MAX_BYTES = 64 * 1024 * 1024;
const APOLLO = 'apollo-persisted-query-manifest';

/** Reads all documents of manifests, or of folders of manifests, by their ids. */
export async function readManifests(...paths: readonly string[]): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  const reasons: string[] = [];
  const files = await Promise.all(
    paths.map((path) =>
      filesOf(path).catch((error: unknown) => {
        reasons.push(`${path}: ${reasonOf(error)}`);
        return [];
      }),
    ),
  );
  for (const file of files.flat()) {
    try {
      addDocuments(documents, entriesOf(JSON.parse(await readPlainFile(file, MAX_BYTES))));
    } catch (error) {
      reasons.push(`${file}: ${reasonOf(error)}`);
    }
  }
  if (reasons.length > 0) throw new ManifestError(reasons);
  return documents;
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(path, name));
}

function addDocuments(
  documents: Map<string, string>,
  entries: readonly (readonly [string, string])[],
): void {
  for (const [id, text] of entries) {
    const known = documents.get(documentId(id));
    if (known !== undefined && known !== text) {
      throw new Error(`the id ${id} has two different documents`);
    }
    documents.set(documentId(id), text);
  }
}

/** Accepts Apollo's manifest, or plain `{ id: text }` as Relay and codegen write it. */
function entriesOf(manifest: unknown): [string, string][] {
  if (!isObject(manifest)) throw new Error('it is no object');
  if ('format' in manifest || 'operations' in manifest) return apolloEntries(manifest);
  return Object.entries(manifest).map(([id, text]) => {
    if (typeof text !== 'string') throw new Error(`${id} is no text`);
    return [id, text];
  });
}

function apolloEntries({
  format,
  version,
  operations,
}: Record<string, unknown>): [string, string][] {
  if (format !== APOLLO || version !== 1 || !Array.isArray(operations)) {
    throw new Error(`it is no ${APOLLO} of version 1`);
  }
  return operations.map((operation: unknown, index) => {
    const { id, body } = isObject(operation) ? operation : {};
    if (typeof id !== 'string' || typeof body !== 'string') {
      throw new Error(`operation ${index} has no id or no body`);
    }
    return [id, body];
  });
}
