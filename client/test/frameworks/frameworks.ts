import { posix } from 'node:path';
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
    [posix.join('app', path, 'buy.ts')]: printed('app/buy.ts'),
    [posix.join('app', path, 'page.tsx')]: printed('app/page.tsx'),
  }),
  live: (printed) => ({
    'app/public/page.tsx': printed('app/page.tsx')
      .replace("'./home'", "'../home'")
      .replace(/import .*buy.*\n/, '')
      .replace(/<form .*<\/form>/s, '')
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

export const FRAMEWORKS: readonly Framework[] = [next, nextWithoutCacheComponents];
