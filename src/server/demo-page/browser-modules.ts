import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Modules as browsers take them: without types, each at a path of its own. */
export interface BrowserModules {
  /** The code by path. */
  readonly code: ReadonlyMap<string, string>;
  /** The path of each package that a module names. */
  readonly packages: Readonly<Record<string, string>>;
}

interface Place {
  /** The path that the browser asks for. */
  readonly path: string;
  readonly file: string;
}

// A comment, or one import or re-export. They stand at the head of a module here, and what follows is not
// searched: a page that shows code has texts that look like imports.
const HEAD =
  /\s*(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?:import|export)\b(?:[^'"`;=()]*?\bfrom)?\s*(['"])([^'"]+)\1\s*;?)/y;

/** Follows the imports of a module, which stands in a folder of the project. Nothing else becomes readable. */
export function collectModules(projectFolder: string, entry: string): BrowserModules {
  const code = new Map<string, string>();
  const packages: Record<string, string> = {};
  const waiting: Place[] = [{ path: entry, file: join(projectFolder, entry) }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    if (code.has(place.path)) continue;
    const text = readFileSync(place.file, 'utf8');
    const script = place.file.endsWith('.ts') ? stripTypes(text) : text;
    code.set(place.path, script);
    for (const specifier of importsOf(script)) {
      const isOwn = specifier.startsWith('.');
      const target = isOwn ? besides(place, specifier) : ofPackage(specifier);
      if (!isOwn) packages[specifier] = target.path;
      waiting.push(target);
    }
  }
  return { code, packages };
}

function importsOf(script: string): readonly string[] {
  const found: string[] = [];
  HEAD.lastIndex = 0;
  for (let match = HEAD.exec(script); match !== null; match = HEAD.exec(script)) {
    if (match[2] !== undefined) found.push(match[2]);
  }
  return found;
}

function besides({ path, file }: Place, specifier: string): Place {
  return {
    path: posix.join(posix.dirname(path), specifier),
    file: join(dirname(file), specifier),
  };
}

/** The folder of a package may be anywhere above the project, so its modules get a path of their own. */
function ofPackage(specifier: string): Place {
  const file = fileURLToPath(import.meta.resolve(specifier));
  return { path: `packages/${specifier}/index.js`, file };
}

/** Keeps line numbers as they are. Node calls the function experimental, which no visitor of the page needs to read. */
function stripTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}
