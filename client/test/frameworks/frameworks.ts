import { posix } from 'node:path';
import type { InstalledApp } from '../support/installed-app.ts';
import { NEXT_APP, NEXT_SERVER } from './next-app.ts';

type Files = Readonly<Record<string, string>>;
/** Returns the text of a guide's file. */
export type Printed = (file: string) => string;

/** An app of a framework: the parts that the guide leaves to the framework, and the places of the guide's files. */
export interface Framework {
  readonly name: string;
  /** The folder with its lock file, next to this file. */
  readonly packages: string;
  readonly env?: Files;
  /** Makes the app like its users do. */
  create(app: InstalledApp): Promise<void>;
  /** A page for a path, and the module that the page uses. */
  page(path: string, module: string): Files;
  /** The page `/live`: the component of another guide, which follows live data. */
  live(printed: Printed): Files;
  /**
   * How a client at module level gets the token of the request that is being answered; undefined if the framework does not
   * offer that.
   */
  readonly token?: { readonly imports: string; readonly value: string };
  /** The path of a page that reads no cookie, so that the framework tries to prerender it in the build. */
  readonly prerendered?: string;
  readonly build: readonly [script: string, ...args: readonly string[]];
  /** The program that serves on a port, with its arguments. */
  serve(port: number): readonly string[];
}

/** A module that answers each request by a client of its own. */
export const HOME = `import { forRequest } from 'trading-graph-client/server';

export interface Home {
  session: { login: string; balance: number } | null;
  positions: { id: string; symbol: string; profit: number }[] | null;
}

const url = 'http://127.0.0.1:4000/graphql';

/** The home screen of the user whose token it is; without one \`session\` is null. */
export async function homeOf(token: string | undefined) {
  const { data } = await forRequest(token ?? null, { url }).query<Home>(
    '{ session { login balance } positions { id symbol profit } }',
  );
  return data;
}
`;

const NEXT_PAGE = `import { cookies } from 'next/headers';
import { Suspense } from 'react';
import { homeOf } from './home';

export default function Page() {
  return <Suspense><Home /></Suspense>;
}

async function Home() {
  const home = await homeOf((await cookies()).get('token')?.value);
  return <>
    <h1>{home?.session?.balance ?? 'Sign in'}</h1>
    {home?.positions?.map(({ id, symbol, profit }) => <p key={id}>{symbol}: {profit}</p>)}
  </>;
}
`;

const next: Framework = {
  ...NEXT_APP,
  page: (path, module) => ({
    [posix.join('app', path, 'home.ts')]: module,
    [posix.join('app', path, 'page.tsx')]: NEXT_PAGE,
  }),
  live: (printed) => ({
    'app/public/page.tsx': NEXT_PAGE.replace("'./home'", "'../home'").replace(
      "(await cookies()).get('token')?.value",
      'undefined',
    ),
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
  serve: (port) => [...NEXT_SERVER, '-p', `${port}`],
};

/** An app without the setting `cacheComponents`, which is off by default. */
const nextWithoutCacheComponents: Framework = {
  ...next,
  name: 'Next without Cache Components',
  create: async (app) => {
    await next.create(app);
    app.write('next.config.ts', 'export default {};\n');
  },
};

export const FRAMEWORKS: readonly Framework[] = [next, nextWithoutCacheComponents];
