// Bundles the program for the container image: `node scripts/image/bundle.ts <project> <target>`. Without a bundle a start
// resolves two thousand modules one by one, takes three times as long, and keeps 50 MB more.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/** Matches the file of a worker thread as modules name it: `'./x.ts', new URL('…', import.meta.url)`. */
const THREAD = /'\.\/([\w-]+)\.ts', new URL\('[^']*', import\.meta\.url\)/g;

/** The folder of a module's package, whose name can have a scope. */
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

interface BundleOptions {
  readonly project: string;
  readonly target: string;
  /** Packages that are installed next to the bundle. */
  readonly external?: readonly string[];
}

/** Writes the program into a folder, with the files that it reads, laid out as in the sources. */
export async function writeBundle({ project, target, external = [] }: BundleOptions) {
  const bundle = await rolldown({
    input: {
      main: join(project, 'src', 'main.ts'),
      cli: join(project, 'src', 'cli', 'main.ts'),
    },
    platform: 'node',
    external: [...external],
    plugins: [rewriteOwnPaths(project)],
    onLog(level, { code, message }) {
      // Paths are replaced within their lines, so only later columns are wrong in the source map.
      if (code !== 'SOURCEMAP_BROKEN' && level === 'warn') throw new Error(message);
    },
  });
  const { output } = await bundle.write({
    dir: target,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const packages = new Set(modules.flatMap((id) => PACKAGE_FOLDER.exec(id)?.[0] ?? []));
  const texts = [licenceOf(project), ...[...packages].sort().map(licenceOf)];
  writeFileSync(join(target, 'licences.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
  const isInPlace = project === dirname(target);
  if (isInPlace) return;
  for (const path of ['package.json', 'src/graphiql/page', 'src/graphiql/bundle']) {
    cpSync(join(project, path), join(dirname(target), path), { recursive: true });
  }
}

/** The name, version and licence of a package, with the texts that have to be kept. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  // Some packages have a licence, but no file with its text.
  const text = texts.length > 0 ? texts.join('\n\n') : 'without a text of its own';
  return `${name} ${version}, ${license}\n\n${text}\n`;
}

/**
 * Modules find files by their own path in the project. In the bundle all modules are in one folder, so their paths are
 * rewritten, and the script of each worker thread becomes a file of its own.
 */
function rewriteOwnPaths(project: string): Plugin {
  return {
    name: 'rewrite-own-paths',
    transform(code, id) {
      const folder = relative(project, dirname(id));
      const isOwn = !folder.startsWith('..') && !folder.startsWith('node_modules');
      if (!isOwn || !code.includes('import.meta.')) return null;
      return code
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/../${folder}')`)
        .replaceAll('import.meta.url', `new URL('../${folder}/', import.meta.url)`)
        .replaceAll(THREAD, (_text, name: string) => {
          const fileName = `${folder}/${name}.js`;
          this.emitFile({ type: 'chunk', id: join(dirname(id), `${name}.ts`), fileName });
          return `'./${fileName}', import.meta.url`;
        });
    },
  };
}

if (import.meta.main) {
  const [, , project = '.', target = 'dist'] = process.argv;
  await writeBundle({ project: resolve(project), target: resolve(target) });
}
