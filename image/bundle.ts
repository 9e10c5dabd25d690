// Bundles the program for the container image: `node image/bundle.ts <sources> <target>`. Two thousand
// modules that are resolved one by one make a start three times as long, and keep 50 MB.
import { cpSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const [sources = 'src', target = 'dist'] = process.argv.slice(2).map((path) => resolve(path));

const bundle = await rolldown({
  input: { main: join(sources, 'main.ts'), cli: join(sources, 'cli', 'main.ts') },
  platform: 'node',
  plugins: [ownPlaces()],
  onLog(level, { code, message }) {
    // Places are replaced within their lines, so only columns behind them are wrong in the source map.
    if (code !== 'SOURCEMAP_BROKEN' && level === 'warn') throw new Error(message);
  },
});
await bundle.write({
  dir: target,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
// What it reads stands beside the bundle, as it does beside the sources.
const [besideSources, besideTarget] = [dirname(sources), dirname(target)];
const read = ['package.json', join('graphiql', 'page'), join('graphiql', 'bundle')];
for (const path of besideSources === besideTarget ? [] : read) {
  cpSync(join(besideSources, path), join(besideTarget, path), { recursive: true });
}

/**
 * Modules find files by their own place in the sources. In the bundle they all stand in one folder, so the
 * place becomes one relative to it; the script of a thread becomes a file of its own.
 */
function ownPlaces(): Plugin {
  return {
    name: 'own-places',
    transform(code, id) {
      if (!id.startsWith(sources) || !code.includes('import.meta.')) return null;
      const folder = relative(sources, dirname(id));
      return code
        .replaceAll(/'(\.\/[\w-]+)\.ts', import\.meta\.url/g, (_text, path: string) => {
          const fileName = `${join(folder, path)}.js`;
          this.emitFile({ type: 'chunk', id: `${join(dirname(id), path)}.ts`, fileName });
          return `'${path}.js', import.meta.url`;
        })
        .replaceAll('import.meta.url', `new URL('./${folder}/', import.meta.url)`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${folder}')`);
    },
  };
}
