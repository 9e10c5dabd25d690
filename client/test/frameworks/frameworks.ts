import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { InstalledApp } from '../support/installed-app.ts';

type Files = Readonly<Record<string, string>>;
/** The text of a file of a guide. */
export type Printed = (file: string) => string;

/** An app of a framework: what the guide leaves to the framework, and where the guide's files stand in it. */
export interface Framework {
  readonly name: string;
  /** The folder beside this file with its lock file. */
  readonly packages: string;
  readonly env?: Files;
  /** Makes the app as its users do. */
  create(app: InstalledApp): Promise<void>;
  /** The guide's page for a path, and the module that it asks. */
  page(path: string, printed: Printed, module: string): Files;
  /** The page `/live`: the component of another guide, which follows what is live. */
  live(printed: Printed): Files;
  /** How a client at a module's level asks for the token of the request that is answered; left out where the framework does not tell it. */
  readonly token?: { readonly imports: string; readonly value: string };
  /** The path of a page that follows what is live where it is rendered, as no guide does. */
  readonly eager?: string;
  /** The path of a page that reads no cookie, so that the framework tries to render it once, when it builds. */
  readonly prerendered?: string;
  readonly build: readonly [script: string, ...args: readonly string[]];
  /** The program that serves on a port, with its arguments. */
  serve(port: number): readonly string[];
}

const next: Framework = {
  name: 'Next',
  packages: 'next-packages',
  env: { NEXT_TELEMETRY_DISABLED: '1' },
  create: async (app) => {
    const options = '--yes --ts --app --no-tailwind --no-linter --no-src-dir --skip-install';
    await app.create('create-next-app/dist/index.js', 'app', ...options.split(' '));
    // That of a new app fetches its fonts when it is built.
    app.write(
      'app/layout.tsx',
      `export default ({ children }: { children: React.ReactNode }) =>
  <html lang="en"><body>{children}</body></html>;`,
    );
  },
  page: (path, printed, module) => ({
    [posix.join('app', path, 'home.ts')]: module,
    [posix.join('app', path, 'page.tsx')]: printed('app/page.tsx'),
  }),
  live: (printed) => ({
    'app/public/page.tsx': printed('app/page.tsx')
      .replace("'./home'", "'../home'")
      .replace(/token = .*/, 'token = undefined;'),
    'app/live/page.tsx': "'use client';\nexport { default } from './App';\n",
    ...Object.fromEntries(
      ['App.tsx', 'Buy.tsx', 'Positions.tsx', 'client.ts'].map((file) => [
        `app/live/${file}`,
        printed(`src/${file}`),
      ]),
    ),
  }),
  token: {
    imports: "import { cookies } from 'next/headers';",
    value: "(await cookies()).get('token')?.value",
  },
  prerendered: 'public',
  build: ['next/dist/bin/next', 'build'],
  serve: (port) => ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', `${port}`],
};

/** As apps are that were made before, and as the setting is left out. */
const nextWithoutCacheComponents: Framework = {
  ...next,
  name: 'Next without Cache Components',
  create: async (app) => {
    await next.create(app);
    app.write('next.config.ts', 'export default {};\n');
  },
};

const nuxt: Framework = {
  name: 'Nuxt',
  packages: 'nuxt-packages',
  env: { NUXT_TELEMETRY_DISABLED: '1' },
  // Its creator fetches a template: these are the files that it has beside the page.
  create: async (app) => {
    app.write('package.json', '{ "name": "app", "private": true, "type": "module" }');
    app.write('nuxt.config.ts', 'export default defineNuxtConfig({});\n');
    app.write('app/app.vue', '<template><NuxtPage /></template>\n');
  },
  page: (path, printed, module) =>
    path === ''
      ? {
          'server/utils/home.ts': module,
          'server/api/home.get.ts': printed('server/api/home.get.ts'),
          'app/pages/index.vue': printed('app/pages/index.vue'),
        }
      : {
          [`server/${path}.ts`]: module,
          [`server/api/${path}.get.ts`]: `import { homeOf } from '../${path}';\n${printed('server/api/home.get.ts')}`,
          [`app/pages/${path}.vue`]: printed('app/pages/index.vue').replace('/home', `/${path}`),
        },
  live: (printed) => ({
    'app/pages/live.vue':
      "<script setup>import App from '../live/App.vue';</script>\n<template><App /></template>\n",
    'app/live/App.vue': printed('src/App.vue'),
    'app/live/client.ts': printed('src/client.ts'),
    'app/live/ticket.ts': printed('src/ticket.ts'),
  }),
  build: ['nuxt/bin/nuxt.mjs', 'build'],
  serve: () => ['.output/server/index.mjs'],
};

export const svelteKit: Framework = {
  name: 'SvelteKit',
  packages: 'sveltekit-packages',
  create: async (app) => {
    const options = '--template minimal --types ts --no-add-ons --no-install';
    await app.create('sv/dist/bin.mjs', 'create', 'app', ...options.split(' '));
    // The adapter of a new app knows platforms of others alone.
    const config = readFileSync(join(app.folder, 'vite.config.ts'), 'utf8');
    app.write('vite.config.ts', config.replace('adapter-auto', 'adapter-node'));
  },
  page: (path, printed, module) => ({
    [`src/lib/server/${path || 'home'}.ts`]: module,
    [posix.join('src/routes', path, '+page.svelte')]: printed('src/routes/+page.svelte'),
    [posix.join('src/routes', path, '+page.server.ts')]: printed(
      'src/routes/+page.server.ts',
    ).replace('server/home', `server/${path || 'home'}`),
  }),
  live: (printed) => ({
    'src/routes/live/+page.svelte': printed('src/App.svelte'),
    'src/routes/live/client.ts': printed('src/client.ts'),
    'src/routes/live/ticket.ts': printed('src/ticket.ts'),
  }),
  token: {
    imports: "import { getRequestEvent } from '$app/server';",
    value: "getRequestEvent().cookies.get('token')",
  },
  build: ['vite/bin/vite.js', 'build'],
  serve: () => ['build/index.js'],
};

const angular: Framework = {
  name: 'Angular',
  packages: 'angular-packages',
  env: { NG_CLI_ANALYTICS: 'false', NG_ALLOWED_HOSTS: '127.0.0.1' },
  create: async (app) => {
    const options = '--ssr --defaults --skip-install --skip-git';
    await app.create('@angular/cli/bin/ng.js', 'new', 'app', ...options.split(' '));
    const server = readFileSync(join(app.folder, 'src/server.ts'), 'utf8');
    app.write('src/server.ts', server.replace('listen(port,', "listen(+port, '127.0.0.1',"));
    app.write('src/app/app.html', '<router-outlet />\n');
    app.write(
      'src/app/app.routes.ts',
      `import { HomePage } from './home-page';
import { HomePage as LatePage } from './late/home-page';
import { App as EagerPage } from './eager/app';
import { App as LivePage } from './live/app';
export const routes = [
  { path: '', component: HomePage },
  { path: 'late', component: LatePage },
  { path: 'eager', component: EagerPage },
  { path: 'live', component: LivePage },
];
`,
    );
  },
  page: (path, printed, module) => ({
    [posix.join('src/app', path, 'home.ts')]: module,
    [posix.join('src/app', path, 'home-page.ts')]: printed('src/app/home-page.ts'),
    'src/app/app.routes.server.ts': printed('src/app/app.routes.server.ts'),
  }),
  live: (printed) => ({
    'src/app/live/app.ts': printed('src/app/app.ts'),
    'src/app/eager/app.ts': printed('src/app/app.ts').replace(
      /afterNextRender\(\(\) => void (.*)\);/,
      '$1;',
    ),
    'src/app/client.ts': printed('src/client.ts'),
  }),
  eager: 'eager',
  build: ['@angular/cli/bin/ng.js', 'build'],
  serve: () => ['dist/app/server/server.mjs'],
};

export const FRAMEWORKS: readonly Framework[] = [
  next,
  nextWithoutCacheComponents,
  nuxt,
  svelteKit,
  angular,
];
