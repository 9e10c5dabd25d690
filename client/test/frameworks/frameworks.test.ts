import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { inFull } from '../../../test/support/in-full.ts';
import { readMetrics } from '../../../test/support/leaks.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { forRequest } from '../../src/server.ts';
import { endPrograms, type Program, startProgram } from '../support/example-process.ts';
import { createApp, type InstalledApp, packagesOf } from '../support/installed-app.ts';
import { namedSamples } from '../support/samples.ts';
import { FRAMEWORKS, HOME } from './frameworks.ts';

// npm installs and builds hundreds of packages.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 900_000 });

const GUIDES_URL = 'http://127.0.0.1:4000';
const ASKED = inFull(1_000, 200);
const AT_ONCE = 50;
/** A line of code that waits. */
const LATE = 'await new Promise((given) => setTimeout(given, 20));';
/** A module that logs uncaught errors. */
const WATCH = `
for (const name of ['uncaughtExceptionMonitor', 'unhandledRejection'])
  process.on(name, (error) => console.error('UNCAUGHT', error));
`;

const service = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000', ORDER_RATE_LIMIT_PER_MINUTE: '100' });

interface Visitor {
  readonly token: string | null;
  readonly heading: string;
}

/** A file of the guide, with the address of this service. */
function printed(file: string): string {
  const sample = namedSamples('docs/clients.md', 'React').get(file);
  if (sample === undefined) throw new Error(`the guide has no ${file}`);
  return sample.text.replaceAll(GUIDES_URL, service.url);
}

/** The module with the address of this service. */
const home = () => HOME.replaceAll(GUIDES_URL, service.url);

/** The module with a delay before its requests. It also tries to follow live data. */
function lateModule(): string {
  const tries = `${LATE}
  const late = forRequest(token ?? null, { url }) as unknown as { positions(sink: unknown): void };
  try { late.positions(() => {}); } catch (error) { console.log('refused:', String(error)); }`;
  return home().replace(/(?<=homeOf\(.*\) \{\n)/, tries);
}

/** The mistake that guides warn of: a module with one client for all users. */
function sharedModule({ imports, value }: { imports: string; value: string }): string {
  return `import { createClient } from 'trading-graph-client';
${imports}
${home()
  .replace(/^import .*\n/, '')
  .replaceAll(/forRequest\(.*?, \{ url \}\)/g, 'client')
  .replace('token: string | undefined', '_token: string | undefined')}
const client = createClient({ url, token: async () => { ${LATE} return ${value}; } });
`;
}

/** The service's counts of requests and sockets. */
const readCounts = () =>
  eventually(
    async () =>
      (await readMetrics(service.adminUrl)).match(
        /^trading_graph_(operations_total|sockets\b).* \d+$/gm,
      ) ?? false,
  );

/** Two users, and two visitors without a valid token. */
async function visitors() {
  const emails = ['demo@example.com', 'pro@example.com'];
  const users = await Promise.all(
    emails.map(async (email) => {
      const token = service.sandbox.token({ email });
      const { data } = await service.query('{ session { balance } }', { token });
      return { token, heading: String(data.session.balance) };
    }),
  );
  const [demo, pro] = users as [Visitor, Visitor];
  expect(demo.heading).not.toBe(pro.heading);
  const strangers = [null, 'ended'].map((token) => ({ token, heading: 'Sign in' }));
  return { demo, pro, strangers };
}

const suites = await Promise.all(
  inFull(FRAMEWORKS, FRAMEWORKS.slice(0, 1)).map(async (framework) => {
    const installed = await packagesOf(join(import.meta.dirname, framework.packages));
    return { framework, ...installed };
  }),
);

for (const { framework, packages, reason } of suites) {
  describe.skipIf(reason !== '')(`${framework.name}${reason}`, () => {
    const { name, page, live, token, build, serve } = framework;
    let app: InstalledApp;
    let server: Program;
    let url: string;

    beforeAll(async () => {
      app = createApp(packages, framework.env);
      await framework.create(app);
      await app.install();
      const files = {
        ...page('', home()),
        ...page('late', lateModule()),
        ...(token && page('shared', sharedModule(token))),
        ...live(printed),
        'watch.mjs': WATCH,
      };
      for (const [file, text] of Object.entries(files)) app.write(file, text);
      const beganAt = performance.now();
      // A build must not call the service.
      const before = await readCounts();
      await app.run(...build);
      expect(await readCounts()).toEqual(before);
      console.log(`${name}: built in ${Math.round((performance.now() - beganAt) / 1_000)} s`);
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const env = { ...app.env, HOST: '127.0.0.1', PORT: String(port) };
      const args = ['--import', './watch.mjs', ...serve(port)];
      server = startProgram(process.execPath, args, env, app.folder);
      await eventually(() => fetch(url).then(({ ok }) => ok), server.whileOpen);
    });
    afterAll(async () => {
      await endPrograms();
      app?.[Symbol.dispose]();
    });

    async function ask(path: string, { token: held }: Pick<Visitor, 'token'>) {
      const headers = held === null ? {} : { cookie: `theme=dark; token=${held}` };
      const response = await fetch(`${url}/${path}`, { headers });
      const text = await response.text();
      // Removes the comments that React writes between texts.
      const [, heading = text] =
        /<h1[^>]*>(.*?)<\/h1>/s.exec(text.replaceAll(/<!--.*?-->/g, '')) ?? [];
      const rows = text.match(/<p[ >]/g)?.length ?? 0;
      return { text, heading, rows, caching: response.headers.get('cache-control') };
    }

    /** Asks for pages as two users in turn, many at a time. Returns the answers that show the wrong user. */
    async function wrongAnswers(paths: readonly string[], asked: number) {
      const { demo, pro, strangers } = await visitors();
      const wrong: string[] = [];
      for (let at = 0; at < asked; at += AT_ONCE) {
        await Promise.all(
          Array.from({ length: AT_ONCE }, async (_, turn) => {
            const user = turn % 2 === 0 ? demo : pro;
            // Each tenth visitor is a stranger, of either kind in turn.
            const stranger = turn % 10 === 9 ? strangers[Math.floor(turn / 10) % 2] : undefined;
            const visitor = stranger ?? user;
            // Both users ask for each path, one after the other.
            const path = paths[Math.floor(turn / 2) % paths.length] ?? '';
            const { text, heading } = await ask(path, visitor);
            const showsOther = [demo, pro].some(
              (other) => other !== visitor && RegExp(`\\b${other.heading}\\b`).test(text),
            );
            if (showsOther || heading !== visitor.heading) wrong.push(`${path}: ${heading}`);
          }),
        );
      }
      return wrong;
    }

    test(`each of ${ASKED} answers belongs to the user who asked, even if the page waits before its requests`, async () => {
      expect(await wrongAnswers(['', 'late'], ASKED)).toEqual([]);
      expect(server.out).toContain('refused: Error: A server cannot follow live data');
    });

    if (token)
      test('each answer of a shared client belongs to the user who asked, and the client warns once', async () => {
        expect(await wrongAnswers(['shared'], ASKED / 2)).toEqual([]);
        expect(server.err.match(/A client is for one user/g)).toHaveLength(1);
      });

    test('an answer shows an order that was placed just before, because no answer is cached', async () => {
      const { demo, pro } = await visitors();
      const before = [await ask('', demo), await ask('', pro)];
      expect(before[0]?.rows).toBeGreaterThan(3);
      const buyer = forRequest(demo.token, { url: `${service.url}/graphql` });
      const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
      expect(await buyer.orders.ticket().place(order)).toMatchObject({ status: 'accepted' });
      const after = [await ask('', demo), await ask('', pro)];
      expect(after.map(({ rows }, at) => rows - (before[at]?.rows ?? 0))).toEqual([1, 0]);
      const pages = [...after, await ask(framework.prerendered ?? '', { token: null })];
      expect(pages.at(-1)?.heading).toBe('Sign in');
      for (const { caching } of pages) expect(caching ?? '').not.toMatch(/public|s-maxage/);
    });

    test('a component with live data is rendered on the server without a request or a socket', async () => {
      const before = await readCounts();
      for (let at = 0; at < 20; at += 1)
        expect((await ask('live', { token: null })).text).toContain('<h1');
      expect(await readCounts()).toEqual(before);
    });

    test('no error was uncaught', () => {
      expect(server.err + server.out).not.toContain('UNCAUGHT');
    });
  });
}
