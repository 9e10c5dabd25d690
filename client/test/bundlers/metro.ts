// Bundles a file of an app by Metro, in a process of its own, because Metro changes its whole process: `metro.ts <folder
// with its packages> <package of Metro> <folder of the app> <file>`. Writes `<file>.bundle.js` next to the file, and the
// modules in `<file>.modules.json`.
import { realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The properties of a module in Metro's graph that are used here. */
interface GraphModule {
  readonly path: string;
  readonly dependencies: ReadonlyMap<string, { readonly absolutePath?: string }>;
  readonly output: readonly { readonly data: { readonly code: string } }[];
}

interface Resolution {
  readonly resolveRequest: (context: object, id: string, platform: string) => object;
}

interface Metro {
  loadConfig(options: object, defaults: object): Promise<object>;
  mergeConfig(base: object, own: object): object;
  runBuild(config: object, options: object): Promise<unknown>;
}

const [folder = '', name = '', app = '', file = ''] = process.argv.slice(2);
const load = createRequire(join(folder, 'package.json'));
const packages = join(folder, 'node_modules');
const metro: Metro = load(name);
const modules = new Map<string, { readonly code: string; readonly dependencies: string[] }>();

// The same settings as React Native's own configuration, which would install all of React Native.
const config = metro.mergeConfig(await metro.loadConfig({ cwd: app }, {}), {
  projectRoot: app,
  watchFolders: [app, packages, realpathSync(join(app, 'node_modules', 'react'))],
  cacheStores: [],
  fileMapCacheDirectory: app,
  maxWorkers: 1,
  reporter: { update() {} },
  resolver: {
    useWatchman: false,
    nodeModulesPaths: [packages],
    // Apollo Client belongs to the app, and is much larger than everything that is measured here.
    resolveRequest: ({ resolveRequest, ...context }: Resolution, id: string, platform: string) =>
      id.startsWith('@apollo/') ? { type: 'empty' } : resolveRequest(context, id, platform),
    resolverMainFields: ['react-native', 'browser', 'main'],
    unstable_conditionNames:
      name === 'metro' ? ['react-native'] : ['require', 'import', 'react-native'],
  },
  transformer: {
    babelTransformerPath: load.resolve('@react-native/metro-babel-transformer'),
    getTransformOptions: async () => ({
      transform: { experimentalImportSupport: false, inlineRequires: true },
    }),
  },
  serializer: {
    processModuleFilter({ path, dependencies, output }: GraphModule) {
      modules.set(path, {
        code: output.map(({ data }) => data.code).join('\n'),
        dependencies: [...dependencies.values()].flatMap(({ absolutePath = [] }) => absolutePath),
      });
      return true;
    },
  },
});
const out = join(app, `${file}.bundle.js`);
// Only the newest version's sizes are measured, because terser takes more time than everything else.
const minify = name === 'metro';
await metro.runBuild(config, {
  entry: file,
  platform: 'ios',
  dev: false,
  minify,
  out,
  bundleOut: out,
});
const listed = [...modules].map(([path, module]) => ({ path, ...module }));
writeFileSync(join(app, `${file}.modules.json`), JSON.stringify(listed));
