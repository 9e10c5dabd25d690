import type { InstalledApp } from '../support/installed-app.ts';

/** An app whose files are those of a page of the documentation. */
export interface FormApp {
  readonly name: string;
  /** The page of the documentation. */
  readonly page: string;
  /** The folder with its lock file, next to this file. */
  readonly packages: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Makes what the framework's own program makes of a new app, which will be served at this address. */
  create(app: InstalledApp, url: string): Promise<void> | void;
  readonly build: readonly [script: string, ...args: readonly string[]];
  /** The arguments of Node that serve the built app. The port and host are in the environment. */
  readonly serve: readonly string[];
}

const next: FormApp = {
  name: 'Next',
  page: 'docs/next.md',
  packages: 'next-packages',
  env: { NEXT_TELEMETRY_DISABLED: '1' },
  async create(app) {
    const options = '--yes --ts --app --no-tailwind --no-linter --no-src-dir --skip-install';
    await app.create('create-next-app/dist/index.js', 'app', ...options.split(' '));
    // The layout of a new app would fetch its fonts in the build.
    app.write(
      'app/layout.tsx',
      `export default ({ children }: { children: React.ReactNode }) =>
  <html lang="en"><body>{children}</body></html>;`,
    );
  },
  build: ['next/dist/bin/next', 'build'],
  serve: ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
};

const svelteKit: FormApp = {
  name: 'SvelteKit',
  page: 'docs/sveltekit.md',
  packages: 'svelte-packages',
  create(app, url) {
    app.write('package.json', '{"name":"app","private":true,"type":"module"}');
    app.write(
      'vite.config.js',
      `import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter(), paths: { origin: '${url}' } })] };`,
    );
    app.write(
      'src/app.html',
      '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
    );
  },
  build: ['vite/bin/vite.js', 'build'],
  serve: ['build/index.js'],
};

const nuxt: FormApp = {
  name: 'Nuxt',
  page: 'docs/nuxt.md',
  packages: 'nuxt-packages',
  env: { NUXT_TELEMETRY_DISABLED: '1' },
  create(app) {
    app.write('package.json', '{"name":"app","private":true,"type":"module"}');
    app.write(
      'nuxt.config.ts',
      "export default defineNuxtConfig({ compatibilityDate: '2026-11-01', telemetry: false });",
    );
    app.write('tsconfig.json', '{"files":[],"references":[{"path":"./.nuxt/tsconfig.app.json"}]}');
  },
  build: ['nuxt/bin/nuxt.mjs', 'build'],
  serve: ['.output/server/index.mjs'],
};

export const FORM_APPS: readonly FormApp[] = [next, svelteKit, nuxt];
