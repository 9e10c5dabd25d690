import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';

const SYNTAX = /^\s*(?:import|export)\b(?!\s*[.(])/m;
const CAN_BE_EITHER = /\.[jt]s$/;
let isTaken = false;
export const LOAD_MS = 20_000;

/**
 * Takes an ES module for one also in a folder whose package.json says `"type": "commonjs"`, as `npm init -y` writes it.
 * Node would refuse its first `import` or `export`. Packages are what they say they are.
 */
export function takeModulesAnywhere(): void {
  if (isTaken) return;
  isTaken = true;
  registerHooks({
    load(url, context, next) {
      const { format } = context;
      const isMeant =
        format?.startsWith('commonjs') &&
        url.startsWith('file:') &&
        !url.includes('/node_modules/') &&
        isModule(fileURLToPath(url));
      if (!isMeant) return next(url, context);
      return next(url, { ...context, format: format?.replace('commonjs', 'module') });
    },
  });
}

/** The default export of a file; compilers write it like this in one of CommonJS. */
export function defaultOf({ default: exported }: { readonly default?: never }) {
  const { __esModule: isCompiled, default: inner } = Object(exported);
  return isCompiled ? inner : exported;
}

/** Waits for a file of others no longer than `ms`. */
export async function loadedWithin<Value>(ms: number, loading: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  // The timer keeps the process, which Node would end with a line of ours where nothing else is under way.
  const timer = setTimeout(() => reject(new Error(`it was not loaded within ${ms} ms`)), ms);
  return Promise.race([loading, late]).finally(() => clearTimeout(timer));
}

/** Whether a file has the syntax of a module, and not only its words in a comment or a text. */
function isModule(path: string): boolean {
  const source = CAN_BE_EITHER.test(path) ? readFileSync(path, 'utf8') : '';
  if (!SYNTAX.test(source)) return false;
  try {
    // TypeScript does not compile: there the words decide.
    compileFunction(source);
    return false;
  } catch {
    return true;
  }
}
