import { AsyncLocalStorage } from 'node:async_hooks';
import { realpathSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Code that others bring into this process, an extension's or a plugin's file. The process serves orders, so a fault that
 * nobody catches is attributed to the file whose code it is, and ends nothing.
 */
const running = new AsyncLocalStorage<string | undefined>();

/** The names of extensions, plugins included, by the paths of their files. */
const names = new Map<string, string>();
/** The folder of the program's own files: the one above this file's, or in a bundle its own. */
const OWN_FOLDER = `${resolve(import.meta.filename, import.meta.filename.endsWith('.ts') ? '../..' : '..')}/`;
const PACKAGES = '/node_modules/';

/** Runs an extension's code: what it throws, now or in what it starts, is attributed to it. */
export function runInExtension<Result>(name: string, run: () => Result): Result {
  return running.run(name, run);
}

/** Runs code of the service that an extension has called, such as a connection that outlives the call. */
export function runInCore<Result>(run: () => Result): Result {
  return running.getStore() === undefined ? run() : running.exit(run);
}

/** The name of an extension in logs and metrics: its file, without folders and ending. */
export function extensionName(path: string): string {
  return basename(path, extname(path));
}

/** The names of several; files that are named alike have their folders' names before theirs. */
export function extensionNames(paths: readonly string[]): string[] {
  const names = paths.map(extensionName);
  return names.map((name, at) => {
    const isOne = names.indexOf(name) === names.lastIndexOf(name);
    return isOne ? name : `${basename(dirname(resolve(paths[at] ?? '')))}/${name}`;
  });
}

/** Stacks name a file by where its links lead. */
export function registerExtension(name: string, path: string): void {
  names.set(realpathSync(path), name);
}

/** The extensions behind errors that have left their code; undefined where the service has failed them. */
const attributed = new WeakMap<Error, string | undefined>();

/** Attributes an error, unless it is already. Its stack has no line of an extension whose value cannot be read, say. */
export function attribute<Thrown>(error: Thrown, extension: string | undefined): Thrown {
  if (error instanceof Error && !attributed.has(error)) attributed.set(error, extension);
  return error;
}

/** The extension whose fault an error is, if any. Event handlers run as whoever emits: for the service's, the stack decides. */
export function extensionAtFault(error: unknown): string | undefined {
  const extension = running.getStore();
  if (extension !== undefined || !(error instanceof Error)) return extension;
  return attributed.has(error) ? attributed.get(error) : extensionOfStack(error.stack);
}

/** Finds whose code is innermost: the folder says it of files beside an extension's own. Packages are called by their users. */
function extensionOfStack(stack: unknown): string | undefined {
  for (const [, place = ''] of String(stack).matchAll(/^ +at (?:.*\()?(.+?)(?::\d+)+\)?$/gm)) {
    const file = place.startsWith('file:') ? fileURLToPath(place) : place;
    if (!isAbsolute(file)) continue;
    if (names.has(file)) return names.get(file);
    const folders = [...names].map(([path, name]) => ({ name, folder: `${dirname(path)}/` }));
    const [owner] = [{ name: undefined, folder: OWN_FOLDER }, ...folders]
      .filter(
        ({ folder }) => file.startsWith(folder) && !file.includes(PACKAGES, folder.length - 1),
      )
      .sort((one, other) => other.folder.length - one.folder.length);
    if (owner) return owner.name;
  }
  return undefined;
}

/** The same promise, whose rejection ends no process where an extension forgets to wait for it. */
export function observed<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
