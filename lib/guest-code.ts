import { AsyncLocalStorage } from 'node:async_hooks';
import { realpathSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Code that others bring into this process, an extension's or a plugin's file. The process serves orders, so a fault that
 * nobody catches is attributed to the file whose code it is, and ends nothing.
 */
const running = new AsyncLocalStorage<string | undefined>();

/** The names of guests by the paths of their files. */
const names = new Map<string, string>();
/** The folder of the program's own files: the one above this file's, or in a bundle its own. */
const OWN_FOLDER = `${resolve(import.meta.filename, import.meta.filename.endsWith('.ts') ? '../..' : '..')}/`;
const PACKAGES = '/node_modules/';

/** Runs a guest's code: what it throws, now or in what it starts, is attributed to it. */
export function runInExtension<Result>(name: string, run: () => Result): Result {
  return running.run(name, run);
}

/** Runs code of the service that a guest has called, such as a connection that outlives the call. */
export function runInCore<Result>(run: () => Result): Result {
  return running.getStore() === undefined ? run() : running.exit(run);
}

/** The name of a guest in logs and metrics: its file, without folders and ending. */
export function guestName(path: string): string {
  return basename(path, extname(path));
}

/** The names of several; files that are named alike have their folders' names before theirs. */
export function guestNames(paths: readonly string[]): string[] {
  const names = paths.map(guestName);
  return names.map((name, at) => {
    const isOne = names.indexOf(name) === names.lastIndexOf(name);
    return isOne ? name : `${basename(dirname(resolve(paths[at] ?? '')))}/${name}`;
  });
}

/** Stacks name a file by where its links lead. */
export function registerGuest(name: string, path: string): void {
  names.set(realpathSync(path), name);
}

/** The guests behind errors that have left their code; undefined where the service has failed them. */
const attributed = new WeakMap<Error, string | undefined>();

/** Attributes an error, unless it is already. Its stack has no line of a guest whose value cannot be read, say. */
export function attribute<Thrown>(error: Thrown, guest: string | undefined): Thrown {
  if (error instanceof Error && !attributed.has(error)) attributed.set(error, guest);
  return error;
}

/** The guest whose fault an error is, if any. Event handlers run as whoever emits: for the service's, the stack decides. */
export function guestAtFault(error: unknown): string | undefined {
  const guest = running.getStore();
  if (guest !== undefined || !(error instanceof Error)) return guest;
  return attributed.has(error) ? attributed.get(error) : guestOfStack(error.stack);
}

/** Finds whose code is innermost: the folder says it of files beside a guest's own. Packages are called by their users. */
function guestOfStack(stack: unknown): string | undefined {
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

/** The same promise, whose rejection ends no process where a guest forgets to wait for it. */
export function observed<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
