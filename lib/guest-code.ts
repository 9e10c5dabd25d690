import { AsyncLocalStorage } from 'node:async_hooks';
import { basename, extname } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Code that others bring into this process, an extension's or a plugin's file. The process serves orders, so a fault that
 * nobody catches is attributed to the file whose code it is, and ends nothing.
 */
const running = new AsyncLocalStorage<string | undefined>();

/** The names of guests by the addresses of their files, as stacks have them. */
const names = new Map<string, string>();

/** Runs a guest's code: what it throws, now or in what it starts, is attributed to it. Null is for code of the service. */
export function asGuest<Result>(name: string | null, run: () => Result): Result {
  return name === null ? run() : running.run(name, run);
}

/** Runs code of the service that a guest has called, such as a connection that outlives the call. */
export function asHost<Result>(run: () => Result): Result {
  return running.getStore() === undefined ? run() : running.exit(run);
}

/** What logs and metrics call a guest: its file, without folders and ending. */
export function guestName(path: string): string {
  return basename(path, extname(path));
}

export function registerGuest(name: string, path: string): void {
  names.set(pathToFileURL(path).href, name);
  // Stacks have the path alone of a file of CommonJS.
  names.set(path, name);
}

/**
 * The guest whose fault an error is; undefined for one of the service's own. An event handler runs in the context of whoever
 * emits: there the innermost frame of the stack that is neither Node's nor a package's decides.
 */
export function guestAtFault(error: unknown): string | undefined {
  return running.getStore() ?? guestOfStack(error instanceof Error ? error.stack : undefined);
}

/** Packages are passed over: they are called by whoever uses them. */
function guestOfStack(stack = ''): string | undefined {
  const isPassedOver = (line: string) => /\(?node:|\/node_modules\//.test(line);
  const frame = stack.split('\n').find((line) => /^ +at /.test(line) && !isPassedOver(line));
  return [...names].find(([place]) => frame?.includes(place))?.[1];
}

/**
 * The same promise, whose rejection ends no process where a guest forgets to wait for it; whoever waits still
 * gets the rejection.
 */
export function observed<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
