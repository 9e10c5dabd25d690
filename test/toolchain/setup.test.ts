import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'set-up-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isNewMac = process.platform === 'darwin' && process.arch === 'arm64';
const NODE = `${isNewMac ? 'node-bin' : 'node'}-${process.platform}-${process.arch}`;

/** A package as npm fetches it. A Node of this kind only prints its version. */
function pack(name: string, version: string, more: object = {}, prints = `v${version}`) {
  const archive = join(mkdtempSync(join(folder, 'package-')), `${name}.tgz`);
  const content = join(dirname(archive), 'package');
  mkdirSync(join(content, 'bin'), { recursive: true });
  const manifest = { name, version, ...(name === NODE && { bin: { node: 'bin/node' } }), ...more };
  writeFileSync(join(content, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(content, 'bin', 'node'), `#!/bin/sh\necho ${prints}\n`, { mode: 0o755 });
  execFileSync('tar', ['-C', dirname(archive), '-czf', archive, 'package']);
  const sha512 = createHash('sha512').update(readFileSync(archive)).digest('base64');
  const locked = { version, resolved: `file:${archive}`, integrity: `sha512-${sha512}`, ...more };
  return { archive, locked };
}

const node = pack(NODE, '26.10.0', { os: [process.platform], cpu: [process.arch] });
// The Node that npm itself runs on is none that this package asks for.
const served = pack('served', '1.0.0', { engines: { node: '>=999' } });
const newer = pack('served', '2.0.0');
const tool = pack('tool', '1.0.0');
const absent = pack('served', '3.0.0');
const absentNode = pack(NODE, '26.10.0');
const broken = pack(NODE, '26.10.0', {}, 'not-found');
for (const { archive } of [absent, absentNode]) rmSync(archive);

/** What leaves out too much, and a home that nobody can write to. */
const USERS_SETTINGS = {
  HOME: '/dev/null',
  NODE_ENV: 'production',
  npm_config_engine_strict: 'true',
  npm_config_ignore_scripts: 'true',
  npm_config_omit: 'optional',
};

/** A project of two packages and Node, which the npm of this machine installs. */
class Project {
  readonly folder = realpathSync(mkdtempSync(join(folder, 'a project-')));

  constructor(nodePackage = node) {
    cpSync(join(root, 'scripts', 'setup.mjs'), this.path('scripts/setup.mjs'));
    this.lock(served, nodePackage);
  }

  lock({ locked }: typeof served, nodePackage = node) {
    const manifest = {
      dependencies: { served: locked.version },
      devDependencies: { tool: '1.0.0' },
      optionalDependencies: { [NODE]: '26.10.0' },
    };
    const packages = {
      '': manifest,
      'node_modules/served': locked,
      'node_modules/tool': { ...tool.locked, dev: true },
      [`node_modules/${NODE}`]: { ...nodePackage.locked, optional: true },
    };
    writeFileSync(this.path('package.json'), JSON.stringify(manifest));
    const lock = { lockfileVersion: 3, requires: true, packages };
    writeFileSync(this.path('package-lock.json'), JSON.stringify(lock));
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  versionOf(name: string): string | null {
    const file = this.path('node_modules', name, 'package.json');
    if (!existsSync(file)) return null;
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
  }

  /** What was chosen for everything that runs. */
  ownNode(): string {
    return realpathSync(this.path('node_modules', '.run-node'));
  }

  /** What only an installation needs. */
  leftovers(): readonly string[] {
    return ['.setup', '.setup.lock'].filter((name) => existsSync(this.path(name)));
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
        ...['--import', `data:text/javascript,${encodeURIComponent(claim)}`],
        ...['scripts/setup.mjs', ...args],
      ],
      {
        cwd: this.folder,
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          // What is in no archive is nowhere.
          npm_config_registry: 'http://127.0.0.1:9',
          npm_config_fetch_retries: '0',
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
    // Now and then it says how far it is.
    return { code, output: (stdout + stderr).replace(/^ {2}\d+ of .*\n/gm, '') };
  }
}

describe.concurrent('a fresh clone', () => {
  test('is installed with one plain message, past the lock of a start that died, whatever the user leaves out', async () => {
    const project = new Project();
    writeFileSync(project.path('.setup.lock'), '4194304999');
    const { code, output } = await project.setUp(USERS_SETTINGS, 'v20.0.0');
    expect({ code, output }).toEqual({
      code: 0,
      output: 'Installing 1 packages (once; usually less than a minute) …\n',
    });
    expect(project.versionOf('served')).toBe('1.0.0');
    expect(project.versionOf('tool')).toBe(null);
    expect(project.ownNode()).toBe(project.path('node_modules', NODE, 'bin/node'));
    expect(project.leftovers()).toEqual([]);
  });

  test('is installed once by two starts at the same time, with what tests need, which stays', async () => {
    const project = new Project();
    const first = project.setUp({}, 'v26.10.0', ['--all']);
    await eventually(() => expect(existsSync(project.path('.setup.lock'))).toBe(true));
    const [one, other] = await Promise.all([first, project.setUp()]);
    expect(one.output).toBe(
      'Installing 2 packages, those of the tests among them (once; usually less than a minute) …\n',
    );
    expect(other).toEqual({
      code: 0,
      output: 'Waiting for another start that is installing packages …\n',
    });
    writeFileSync(project.path('.npmrc'), 'fund=false');
    expect((await project.setUp()).code).toBe(0);
    expect(project.versionOf('tool')).toBe('1.0.0');
  });
});

describe.concurrent('a project that is installed', () => {
  test("is updated when the lock file, npm's settings or what is installed changed", async () => {
    const project = new Project();
    await project.setUp();
    for (const change of [
      () => project.lock(newer),
      () => writeFileSync(project.path('.npmrc'), 'fund=false'),
      () => writeFileSync(project.path('node_modules/.package-lock.json'), '{}'),
    ]) {
      change();
      expect((await project.setUp()).output).toMatch(/^Updating \d+ packages/);
    }
    expect(project.versionOf('served')).toBe('2.0.0');
    expect(project.leftovers()).toEqual([]);
    expect(await project.setUp()).toEqual({ code: 0, output: '' });
  });

  test('stays as it was where an update fails or was killed, and serves its own commit again', async () => {
    const project = new Project();
    await project.setUp();
    project.lock(absent);
    const { code, output } = await project.setUp();
    expect(code).toBe(1);
    expect(output).toContain('ENOENT');
    expect(output).toMatch(
      /npm could not .*\. The packages that were installed before are as they were\.\n$/,
    );
    expect(project.versionOf('served')).toBe('1.0.0');
    expect(project.leftovers()).toEqual([]);
    // Killed when the former packages had made room, and the new ones were not yet there.
    mkdirSync(project.path('.setup'));
    renameSync(project.path('node_modules'), project.path('.setup', 'former'));
    expect((await project.setUp()).code).toBe(1);
    project.lock(served);
    expect(await project.setUp()).toEqual({ code: 0, output: '' });
  });
});

describe.concurrent('a failure is reported', () => {
  test.each([
    ['cannot be fetched', absentNode, 'v24.1.0', "this machine's v24.1.0 is used instead"],
    ['does not run here, and this one is old', broken, 'v20.0.0', 'Install Node 24 or newer'],
    [
      'is older than the set-up',
      node,
      'v18.20.0',
      'Node 20 or newer is needed; this is v18.20.0.\n',
    ],
  ])('Node %s', async (_what, nodePackage, version, words) => {
    const project = new Project(nodePackage);
    const { code, output } = await project.setUp({}, version);
    expect(output).toContain(words);
    expect(code).toBe(nodePackage === absentNode ? 0 : 1);
    if (code === 0) expect(project.ownNode()).toBe(realpathSync(process.execPath));
    if (nodePackage === node) expect(existsSync(project.path('node_modules'))).toBe(false);
  });
});
