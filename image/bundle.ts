// Bundles the program for the container image: `node image/bundle.ts <project> <target>`. Two thousand
// modules that are resolved one by one make a start three times as long, and keep 50 MB.
import { cpSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const [project = '.', target = 'dist'] = process.argv.slice(2).map((path) => resolve(path));

const THREAD = /'\.\/([\w-]+)\.ts', new URL\('[^']*', import\.meta\.url\)/g;

const bundle = await rolldown({
  input: { main: join(project, 'src', 'main.ts'), cli: join(project, 'src', 'cli', 'main.ts') },
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
const read = ['package.json', join('graphiql', 'page'), join('graphiql', 'bundle')];
for (const path of project === dirname(target) ? [] : read) {
  cpSync(join(project, path), join(dirname(target), path), { recursive: true });
}

/**
 * Modules find files by their own place in the project. In the bundle they all stand in one folder of it, so the
 * place becomes one relative to that; the script of a thread becomes a file of its own.
 */
function ownPlaces(): Plugin {
  return {
    name: 'own-places',
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
