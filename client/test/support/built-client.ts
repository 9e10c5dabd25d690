import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../../test/support/eventually.ts';
import { runTool } from './run-tool.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const modules = join(root, 'node_modules');
const run = promisify(execFile);

/** The package's files besides `src`. */
const FILES = [
  ...[
    'package.json',
    'LICENSE',
    'README.md',
    'schema.json',
    'texts.json',
    'trusted-documents.json',
  ],
  ...['tsconfig.json', 'build.mjs', 'rolldown.config.mjs'],
];

/** The package as npm would publish it, made once for each state of the sources. */
export async function builtClient() {
  const made = join(modules, `.client-${digestOfSources()}`);
  const isMade = () => existsSync(made);
  // Workers that start together wait for one build.
  await eventually(() => isMade() || !isBeingMade(made));
  if (!isMade()) {
    // The name of the folder has the process id, which `isBeingMade` reads.
    const own = mkdtempSync(`${made}.${process.pid}.`);
    await make(own);
    try {
      renameSync(own, made);
    } catch (error) {
      rmSync(own, { recursive: true });
      // Another process was first.
      if (!isMade()) throw error;
    }
  }
  // The folder has the unpacked tarball: the package as it is installed.
  return { tarball: join(made, 'client.tgz'), folder: join(made, 'package') };
}

async function make(into: string): Promise<void> {
  const made = join(into, 'made');
  mkdirSync(made);
  const tools = ['typescript/bin/tsc', 'rolldown/bin/cli.mjs'];
  await runTool('../client/build.mjs', [made, ...tools.map((tool) => join(modules, tool))]);
  const { stdout } = await run('npm', ['pack', '--json'], { cwd: made });
  const name = /"filename":\s*"([^"]+)"/.exec(stdout)?.[1] ?? '';
  renameSync(join(made, name), join(into, 'client.tgz'));
  await run('tar', ['-xzf', 'client.tgz'], { cwd: into });
  rmSync(made, { recursive: true });
}

/** Whether a running process makes the folder. A process that was killed may have left its own folder. */
function isBeingMade(made: string): boolean {
  return globSync(`${made}.*`).some((folder) => {
    try {
      // The signal 0 only shows whether the process exists.
      return process.kill(Number(folder.slice(made.length).split('.')[1]), 0);
    } catch {
      return false;
    }
  });
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  const sources = globSync('src/**/*.ts', { cwd: join(root, 'client') }).sort();
  for (const file of [...FILES, ...sources]) {
    hash.update(file).update(readFileSync(join(root, 'client', file)));
  }
  return hash.digest('hex').slice(0, 16);
}
