import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort, freePorts } from '../../../test/support/free-ports.ts';
import { inFull } from '../../../test/support/in-full.ts';
import { launchChromium } from '../../../test/support/launch-chromium.ts';
import { endPrograms, startProgram } from '../support/example-process.ts';
import { namedSamples, samplesOf } from '../support/samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const environment = bareEnvironment();
const GUIDE = 'docs/clients.md';
const MINUTES_MS = 60_000;

vi.setConfig({ testTimeout: 10 * MINUTES_MS, hookTimeout: 10 * MINUTES_MS });

/** The packed client, under the path that `npm run pack:client` prints. */
let tarball = '';

const reason = offline();

let folder: string;

/** Runs a command like a reader does: in a shell, with the machine's Node. It installs the client that was packed here. */
function run(command: string, cwd: string): string {
  const packed = command.replaceAll('npm install trading-graph-client', `npm install ${tarball}`);
  const options = { cwd, env: environment, encoding: 'utf8', stdio: 'pipe' } as const;
  try {
    return execFileSync('sh', ['-c', packed], { ...options, timeout: 8 * MINUTES_MS });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command}\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}

/** Why npm cannot install packages; null if it can. */
function offline(): string | null {
  try {
    run('npm view graphql version --fetch-retries=0 --fetch-timeout=10000', tmpdir());
    return null;
  } catch {
    return 'the registry does not answer';
  }
}

const start = (command: string, cwd: string, more: Readonly<Record<string, string>> = {}) =>
  startProgram('sh', ['-c', command], { ...environment, ...more }, cwd);

/** Writes the files of the guide for React, with the address of the test's service. */
function writeFiles(cwd: string, url: string): void {
  for (const [file, { text }] of namedSamples(GUIDE, 'React')) {
    // Tests of components are left out, because they need a test runner.
    if (file.includes('.test.')) continue;
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), text.replaceAll('http://127.0.0.1:4000', url));
  }
}

describe.skipIf(reason !== null)(
  `from an empty folder by the commands of the guides${reason === null ? '' : ` (${reason})`}`,
  () => {
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'empty-folder-'));
      run(`git clone --quiet --depth 1 file://${root} trading-graph`, folder);
      const printed = run('npm run pack:client', join(folder, 'trading-graph'));
      tarball = /npm install (\S+\.tgz)/.exec(printed)?.[1] ?? '';
    });
    afterAll(async () => {
      await endPrograms();
      rmSync(folder, { recursive: true, force: true });
    });

    test('a fresh clone packs the client without installing packages, and prints the command that installs it', () => {
      expect(existsSync(join(folder, 'trading-graph', 'node_modules'))).toBe(false);
      expect(existsSync(tarball)).toBe(true);
      const empty = join(folder, 'by-the-printed-line');
      mkdirSync(empty);
      // npm would look for an app in the folders above.
      writeFileSync(join(empty, 'package.json'), '{}');
      run(`npm install ${tarball}`, empty);
      expect(readdirSync(join(empty, 'node_modules'))).toContain('trading-graph-client');
    });

    describeWithChromium('in a browser', (executablePath) => {
      /** Starts an app's server, and opens its page. */
      async function openApp(cwd: string, command: string) {
        const port = await freePort();
        const server = start(`${command} -- --port ${port} --strictPort`, cwd);
        await eventually(() => expect(server.out).toContain(`:${port}`), server.whileOpen);
        const browser = await launchChromium(executablePath);
        const page = await browser.newPage();
        page.setDefaultTimeout(MINUTES_MS);
        await page.goto(`http://localhost:${port}`);
        return { page, [Symbol.asyncDispose]: () => browser.close() };
      }

      test('the guide for React leads from a clone to live positions, an order, and an order with an unknown outcome', async () => {
        const blocks = samplesOf(GUIDE, 'React').filter(({ language }) => language === 'sh');
        // The commands that start the service, make the app, and open its page.
        const [service = [], make = [], look = []] = blocks.map(({ text }) =>
          text.trim().split('\n'),
        );
        const empty = join(folder, 'ten-minutes');
        mkdirSync(empty);
        const [clone = '', ...begin] = service;
        run(clone.replace('ADDRESS', `file://${root}`), empty);
        // A short run uses the packages of this checkout.
        if (inFull(false, true))
          symlinkSync(join(root, 'node_modules'), join(empty, 'trading-graph', 'node_modules'));
        const [servicePort, adminPort] = await freePorts(2);
        const url = `http://127.0.0.1:${servicePort}`;
        const ports = { PORT: String(servicePort), ADMIN_PORT: String(adminPort) };
        const serve = async () => {
          const running = start(begin.join(' && '), empty, ports);
          await eventually(
            () => expect(running.out).toContain('running with its own sandbox gateway'),
            { withinMs: 5 * MINUTES_MS, ...running.whileOpen },
          );
          return running;
        };
        const running = await serve();

        run(make.join(' && '), empty);
        const cwd = join(empty, 'my-desk');
        writeFiles(cwd, url);
        const [build = '', dev = ''] = look;
        run(build, cwd);
        await using opened = await openApp(cwd, dev);
        const { page } = opened;
        const heading = (status: string) => page.getByRole('heading').getByText(status);
        const hasRows = (count: number) =>
          eventually(async () => expect(await page.locator('li').count()).toBe(count));
        const tap = (name: string) => page.getByRole('button', { name }).click();
        await heading('LIVE').waitFor();
        await hasRows(6);
        const profits = await page.locator('ul').textContent();
        await eventually(async () =>
          expect(await page.locator('ul').textContent()).not.toBe(profits),
        );
        await page.getByRole('button', { name: 'Buy 1 AAPL' }).dblclick();
        await page.getByText('Done.').waitFor();
        await hasRows(7);

        await tap('Buy 1 TEST.UNKNOWN');
        const unknown = page.getByText('We have no confirmation of your order.');
        await unknown.waitFor();
        // The sandbox carries the order out, but gives no clear answer.
        await hasRows(8);
        await tap('Ask again');
        await unknown.waitFor();
        // Asking again has sent no order: the gateway has received only the two orders.
        const calls = await fetch(`${url}/sandbox/calls`);
        expect((await calls.json()).operations.openPosition).toBe(2);
        await page.reload();
        await page.getByText('An order before the reload: unknown').waitFor();

        await running.kill('SIGINT');
        await heading('OFFLINE').waitFor();
        await page.getByText(/^As of \d/).waitFor();
        await serve();
        await heading('LIVE').waitFor();
      });
    });
  },
);
