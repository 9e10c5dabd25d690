import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { endPrograms, startProgram } from '../support/example-process.ts';
import { namedSamples, readPage } from '../support/samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const environment = bareEnvironment();
const MINUTES_MS = 60_000;
const IN_CHECKOUT = /^npm (start|run pack:client)\b/;

vi.setConfig({ testTimeout: 10 * MINUTES_MS, hookTimeout: 2 * MINUTES_MS });

const reason = offline();

let folder: string;
let app: TestApp;

/** The commands of a page for the app's folder, in their order and as they are written; those for the checkout are left out. */
function guideCommands(page: string): readonly string[] {
  return readPage(page)
    .samples.filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.trim())
    .filter(
      (line) => line !== '' && !line.endsWith('# in the checkout') && !IN_CHECKOUT.test(line),
    );
}

/** Runs a command as a reader does, in a shell of the machine's own, with its own Node. */
function run(command: string, cwd: string): string {
  const options = { cwd, env: environment, encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync('sh', ['-c', command], { ...options, timeout: 8 * MINUTES_MS });
}

/** Why npm cannot install anything; null where it can. */
function offline(): string | null {
  try {
    run('npm view graphql version --fetch-retries=0 --fetch-timeout=10000', tmpdir());
    return null;
  } catch {
    return 'no registry here';
  }
}

const start = (command: string, cwd: string) =>
  startProgram('sh', ['-c', command], environment, cwd);

/** Follows a guide from an empty folder until its app, which is this file, is to be started; the answer is the app's folder. */
function follow(page: string, file: string, before?: string): string {
  const named = new Map([...namedSamples('docs/clients/README.md'), ...namedSamples(page)]);
  let cwd = folder;
  const create = () => {
    const { text } = named.get(file) ?? { text: null };
    if (text === null) throw new Error(`${page} has no ${file}`);
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), withAddress(text));
  };
  for (const command of guideCommands(page)) {
    if (command === before) create();
    if (command.startsWith('npm run dev') || command.startsWith('node ')) continue;
    const [, entered] = /^cd (\S+)$/.exec(command) ?? [];
    if (entered !== undefined) cwd = join(cwd, entered);
    else run(withAddress(command), cwd);
  }
  if (before === undefined) create();
  return cwd;
}

/** The service has a port of its own here. */
function withAddress(text: string): string {
  return text.replaceAll('http://127.0.0.1:4000', app.url);
}

describe.skipIf(reason !== null)(
  `from an empty folder by the commands of the guides${reason === null ? '' : ` (${reason})`}`,
  () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'empty-folder-'));
      app = await startTestApp({ POSITIONS_POLL_MS: '100', LOGIN_LIMIT_PER_MINUTE: '1000' });
      run(`git clone --quiet --depth 1 file://${root} trading-graph`, folder);
    });
    afterAll(async () => {
      await endPrograms();
      await app?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test('a fresh clone packs the client without its packages, and says how it is installed', () => {
      const clone = join(folder, 'trading-graph');
      const printed = run('npm run pack:client', clone);
      expect(existsSync(join(clone, 'node_modules'))).toBe(false);
      const [line = '', tarball = ''] = /npm install (\S+\.tgz)/.exec(printed) ?? [];
      expect(existsSync(tarball)).toBe(true);
      const empty = join(folder, 'by-the-printed-line');
      mkdirSync(empty);
      run(line, empty);
      expect(readdirSync(join(empty, 'node_modules'))).toContain('trading-graph-client');
    });

    test('a terminal app follows the account, and buys once', async () => {
      const cwd = follow('examples/terminal/README.md', 'ticker.mjs');
      const [, buy = ''] = guideCommands('examples/terminal/README.md').filter((line) =>
        line.startsWith('node '),
      );
      const ticker = start(buy, cwd);
      await eventually(() => expect(ticker.out).toContain('order accepted'), ticker.whileOpen);
      await eventually(
        () => expect(ticker.out).toMatch(/LIVE 20\S+ \d+ (.*AAPL){1}/),
        ticker.whileOpen,
      );
      expect(app.sandbox.orders()).toHaveLength(1);
    });

    describeWithChromium('in a browser', (executablePath) => {
      test('the React app shows positions that move, and places one order', async () => {
        const cwd = follow('docs/clients/react.md', 'src/App.tsx', 'npm run build');
        const port = await freePort();
        const server = start(`npm run dev -- --port ${port} --strictPort`, cwd);
        await eventually(() => expect(server.out).toContain(`:${port}`), server.whileOpen);
        await using browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
        const page = await browser.newPage();
        await page.goto(`http://localhost:${port}`);
        await page.getByRole('heading').getByText('LIVE').waitFor();
        const rows = await page.locator('li').count();
        await page.getByRole('button').dblclick();
        await page.getByText('accepted').waitFor();
        await eventually(async () => expect(await page.locator('li').count()).toBe(rows + 1));
      });
    });
  },
);
