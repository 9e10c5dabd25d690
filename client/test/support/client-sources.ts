import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const root = join(import.meta.dirname, '..', '..', '..');

/** Resolves the client's entry points to its sources, so that no build or installation is needed. */
export function clientSources(): Plugin {
  const text = readFileSync(join(root, 'client', 'package.json'), 'utf8');
  const { exports } = JSON.parse(text) as {
    exports: Record<string, { import?: { default: string } }>;
  };
  return {
    name: 'client-sources',
    resolveId(id) {
      // A relative path such as ./react is a file of the app, and not an entry point.
      const path = id.startsWith('trading-graph-client')
        ? id.replace('trading-graph-client', '.')
        : id;
      const target = path === id ? undefined : exports[path]?.import?.default;
      if (target === undefined) return null;
      return join(root, 'client', target.replace('./dist/', './src/').replace(/\.js$/, '.ts'));
    },
  };
}
