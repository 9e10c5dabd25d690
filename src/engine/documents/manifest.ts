import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../lib/json.ts';
import { readPlainFile } from '../../lib/read-plain-file.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { documentId } from './params.ts';

/** Thrown if manifests of trusted documents cannot be used, with one reason for each faulty file. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

// A larger file was configured by mistake: this is far more than the documents of any team.
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads the documents of a manifest, or of all `*.json` files in a folder. Returns them by their ids. */
export async function readManifest(path: string): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  const reasons: string[] = [];
  const files = await filesOf(path).catch((error: unknown) => {
    throw new ManifestError([`${path}: ${reasonOf(error)}`]);
  });
  for (const file of files) {
    try {
      addDocuments(documents, JSON.parse(await readPlainFile(file, MAX_BYTES)));
    } catch (error) {
      reasons.push(`${file}: ${reasonOf(error)}`);
    }
  }
  if (reasons.length > 0) throw new ManifestError(reasons);
  return documents;
}

/** Returns a text that changes whenever a file of the manifest changes. */
export async function manifestState(path: string): Promise<string> {
  try {
    const files = (await filesOf(path)).map(async (file) => {
      const { mtimeMs, size, ino } = await stat(file);
      return `${file} ${mtimeMs} ${size} ${ino}`;
    });
    return (await Promise.all(files)).join('\n');
  } catch (error) {
    return `unreadable: ${reasonOf(error)}`;
  }
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => join(path, name));
}

/** A manifest is `{ id: text }`, the format of Relay's compiler and GraphQL Code Generator. */
function addDocuments(documents: Map<string, string>, manifest: unknown): void {
  if (!isObject(manifest)) throw new Error('it is not an object');
  for (const [given, text] of Object.entries(manifest)) {
    const id = documentId(given);
    if (typeof text !== 'string') throw new Error(`${given} is not a text`);
    const known = documents.get(id) ?? text;
    if (known !== text) throw new Error(`the id ${given} has two different documents`);
    documents.set(id, text);
  }
}
