import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';

const root = join(import.meta.dirname, '..', '..');

// Stands in for npm: it records its arguments, and installs a Node that only prints its version.
const NPM = `
const { appendFileSync, chmodSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
appendFileSync('npm.log', JSON.stringify({ args, path: process.env.PATH }) + '\\n');
if (process.env.FAKE_NPM_MS) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, +process.env.FAKE_NPM_MS);
console.error('npm warn EBADENGINE something frightening');
if (process.env.FAKE_NPM === 'fails') process.exit(1);
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules/node/bin', { recursive: true });
mkdirSync('node_modules/.bin');
writeFileSync('node_modules/.package-lock.json', '{}');
if (process.env.FAKE_NPM !== 'has no Node') {
  writeFileSync('node_modules/node/bin/node', '#!/bin/sh\\necho ' + (process.env.FAKE_NODE || 'v26.10.0') + '\\n');
  chmodSync('node_modules/node/bin/node', 0o755);
}
`;

class Project implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'setup-')));

  constructor() {
    cpSync(join(root, 'scripts', 'setup.mjs'), this.path('scripts/setup.mjs'));
    writeFileSync(this.path('fake-npm.js'), NPM);
    writeFileSync(
      this.path('package.json'),
      '{"type":"commonjs","optionalDependencies":{"node":"26.10.0"}}',
    );
    const packages = {
      '': {},
      'node_modules/node': { optional: true },
      'node_modules/typescript': { dev: true },
      'node_modules/trading-graph-client': { link: true },
    };
    writeFileSync(this.path('package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  async setUp(
    env: Readonly<Record<string, string>> = {},
    nodeVersion = 'v26.10.0',
    args: readonly string[] = [],
  ) {
    // The branch for an old Node is taken by what it says of itself.
    const claim = `Object.defineProperty(process, 'version', { value: '${nodeVersion}' })`;
    const child = spawn(
      process.execPath,
      [
        '--import',
        `data:text/javascript,${encodeURIComponent(claim)}`,
        'scripts/setup.mjs',
        ...args,
      ],
      {
        cwd: this.folder,
        env: {
          PATH: `${this.path('node_modules', '.bin')}:${process.env.PATH}`,
          npm_execpath: this.path('fake-npm.js'),
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, output: stdout + stderr };
  }

  npmRuns(): { args: string[]; path: string }[] {
    const log = this.path('npm.log');
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as { args: string[]; path: string });
  }

  [Symbol.dispose]() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe('a fresh clone', () => {
  test('is installed with one plain message, whatever npm warns of', async () => {
    using project = new Project();
    const { code, output } = await project.setUp({ NODE_ENV: 'production' }, 'v20.0.0');
    expect({ code, output }).toEqual({
      code: 0,
      output: 'Installing 1 packages (once; usually less than a minute) …\n',
    });
    expect(project.npmRuns()[0]?.args).toEqual(
      expect.arrayContaining([
        ...['ci', '--include=optional', '--ignore-scripts=false'],
        ...['--omit=dev', '--workspaces=false'],
      ]),
    );
    expect(realpathSync(project.path('node_modules/.run-node'))).toBe(
      project.path('node_modules/node/bin/node'),
    );
  });

  test('is installed once by two starts at the same time, with what the first one needs', async () => {
    using project = new Project();
    const first = project.setUp({ FAKE_NPM_MS: '600' }, 'v26.10.0', ['--all']);
    await eventually(() => expect(existsSync(project.path('.setup.lock'))).toBe(true));
    const outcomes = await Promise.all([first, project.setUp()]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
    expect(project.npmRuns()).toHaveLength(1);
    expect(existsSync(project.path('.setup.lock'))).toBe(false);
  });

  test('is installed past the lock of a start that died', async () => {
    using project = new Project();
    writeFileSync(project.path('.setup.lock'), '4194304999');
    expect((await project.setUp()).code).toBe(0);
  });
});

describe('a project that is installed', () => {
  test.each([
    ['the lock file', 'package-lock.json', '{"lockfileVersion":3,"packages":{}}'],
    ["npm's settings", '.npmrc', 'fund=false'],
    ['what is installed', 'node_modules/.package-lock.json', '{"packages":{}}'],
  ])('is updated when %s changed', async (_, file, content) => {
    using project = new Project();
    await project.setUp();
    writeFileSync(project.path(file), content);
    const { output } = await project.setUp();
    expect(output).toMatch(/^Updating \d+ packages/);
    expect(project.npmRuns()).toHaveLength(2);
  });

  test('for tests keeps what they need over later starts', async () => {
    using project = new Project();
    await project.setUp({}, 'v26.10.0', ['--all']);
    expect(await project.setUp()).toEqual({ code: 0, output: '' });
    writeFileSync(project.path('.npmrc'), 'fund=false');
    await project.setUp();
    const runs = project.npmRuns();
    expect(runs).toHaveLength(2);
    expect(runs[1]?.args).toEqual(expect.arrayContaining(['--include=dev']));
  });
});

describe('a failure is reported', () => {
  test('npm fails: its words, what to look at, and nothing counts as installed', async () => {
    using project = new Project();
    const { code, output } = await project.setUp({ FAKE_NPM: 'fails' });
    expect(code).toBe(1);
    expect(output).toContain('EBADENGINE something frightening');
    expect(output).toContain('Is there a network?');
    expect((await project.setUp()).code).toBe(0);
  });

  test('Node cannot be fetched: a new enough one takes its place', async () => {
    using project = new Project();
    const { code, output } = await project.setUp({ FAKE_NPM: 'has no Node' }, 'v24.1.0');
    expect(code).toBe(0);
    expect(output).toContain("could not be brought in; this machine's v24.1.0 is used instead");
    expect(realpathSync(project.path('node_modules/.run-node'))).toBe(
      realpathSync(process.execPath),
    );
  });

  test('Node does not run here: an old one stops the start', async () => {
    using project = new Project();
    const { code, output } = await project.setUp({ FAKE_NODE: 'not-found' }, 'v20.0.0');
    expect(code).toBe(1);
    expect(output).toContain('Install Node 24 or newer');
  });

  test('a Node older than the set-up stops the start', async () => {
    using project = new Project();
    const { code, output } = await project.setUp({}, 'v18.20.0');
    expect({ code, output }).toEqual({
      code: 1,
      output: 'Node 20 or newer is needed; this is v18.20.0.\n',
    });
    expect(project.npmRuns()).toEqual([]);
  });
});
