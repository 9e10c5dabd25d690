import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpReply } from '../../engine/http/reply.ts';
import { type Site, sendNotFound, wantsPage } from '../../engine/http/site.ts';
import { packFile, type StaticFile, sendFile, sendPage } from '../../engine/http/static-file.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';

const PROJECT_FOLDER = join(import.meta.dirname, '..', '..');
const ENTRY = 'page/src/main.ts';
const STYLE = 'page/style.css';

/** The demonstration page: its files are those of the folder `page/`, and of the client that it is built on. */
export class DemoPage implements Site {
  /** Most starts of the service serve no page. */
  readonly #load: () => ReturnType<typeof loadPage>;

  private constructor(folder: string) {
    this.#load = onFirstUse(() => loadPage(folder));
  }

  /** Null in an installation without the page, such as the container image. */
  static find(folder = PROJECT_FOLDER): DemoPage | null {
    const isThere = [ENTRY, 'client/src/index.ts'].every((path) => existsSync(join(folder, path)));
    return isThere ? new DemoPage(folder) : null;
  }

  route(request: IncomingMessage, path: string): ReturnType<Site['route']> {
    if (path === '/' && wantsPage(request)) {
      return (reply) => reply.whenRoom(() => this.#page(reply));
    }
    if (!path.startsWith('/demo/')) return null;
    return (reply) => reply.whenRoom(() => this.#file(reply, path));
  }

  async #page(reply: HttpReply): Promise<void> {
    const { html, scripts } = await this.#load();
    await sendPage(reply, html, { scripts });
  }

  async #file(reply: HttpReply, path: string): Promise<void> {
    const file = (await this.#load()).files.get(path);
    return file === undefined ? sendNotFound(reply) : sendFile(reply, file);
  }
}

/** Reads the page, and its files by the paths that it names. */
async function loadPage(folder: string) {
  const template = readFileSync(join(folder, 'page', 'index.html'), 'utf8');
  const style = readFileSync(join(folder, STYLE), 'utf8');
  const { code, packages } = collectModules(folder, ENTRY);
  const sources = new Map([[STYLE, style], ...code]);
  const digest = hash('sha256', JSON.stringify([...sources]), 'hex').slice(0, 16);
  const urlOf = (path: string) => `/demo/${digest}/${path}`;
  const imports = Object.fromEntries(
    Object.entries(packages).map(([name, path]) => [name, urlOf(path)]),
  );
  const importMap = JSON.stringify({ imports });
  const preloads = [...code.keys()].map(
    (path) => `<link rel="modulepreload" href="${urlOf(path)}" />`,
  );
  const head = [
    `<link rel="stylesheet" href="${urlOf(STYLE)}" />`,
    `<script type="importmap">${importMap}</script>`,
    // All modules are asked for at once, instead of each when the one that imports it has come.
    ...preloads,
    `<script type="module" src="${urlOf(ENTRY)}"></script>`,
  ];
  const files = await Promise.all(
    [...sources].map(async ([path, text]): Promise<[string, StaticFile]> => {
      const type = path === STYLE ? 'text/css' : 'text/javascript';
      return [urlOf(path), await packFile(`${type}; charset=utf-8`, Buffer.from(text))];
    }),
  );
  return {
    html: template.replace('<!-- head -->', () => head.join('\n    ')),
    // The import map is the one inline script.
    scripts: `'self' 'sha256-${hash('sha256', importMap, 'base64')}'`,
    files: new Map(files),
  };
}

interface Place {
  /** The path that the browser asks for. */
  readonly path: string;
  readonly file: string;
}

// A comment, or one import or re-export. They stand at the head of a module here, and what follows is not
// searched: a page that shows code has texts that look like imports.
const HEAD =
  /\s*(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?:import|export)\b(?:[^'"`;=()]*?\bfrom)?\s*(['"])([^'"]+)\1\s*;?)/gy;

/**
 * Follows the imports of a module, which stands in a folder of the project; nothing else becomes readable. Returns the
 * code without types by its path, and the path of each package that a module names.
 */
function collectModules(projectFolder: string, entry: string) {
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
  return [...script.matchAll(HEAD)].flatMap((match) => match[2] ?? []);
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
