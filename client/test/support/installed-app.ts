import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { ownPackages } from '../../../test/support/own-packages.ts';
import { builtClient } from './built-client.ts';

const run = promisify(execFile);

/** The packages of a lock file, or the reason why this machine cannot install them, as the end of a suite's name. */
export function packagesOf(lockedIn: string) {
  return ownPackages(lockedIn).then(
    (packages) => ({ packages, reason: '' }),
    ({ message }: Error) => ({ packages: '', reason: ` (${message.split('\n')[0]})` }),
  );
}

export type InstalledApp = ReturnType<typeof createApp>;

/** The folder of a future app, outside of this project, with the packages of another folder. */
export function createApp(packages: string, own: Readonly<Record<string, string>> = {}) {
  const above = mkdtempSync(join(tmpdir(), 'own-app-'));
  const folder = join(above, 'app');
  // The app's programs find Node by its name.
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const env = { ...bareEnvironment(), CI: '1', PATH, ...own };
  const runIn = async (cwd: string, program: string, args: readonly string[]) => {
    try {
      return (await run(process.execPath, [program, ...args], { cwd, env })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
    }
  };
  const modules = join(folder, 'node_modules');
  const all = { recursive: true, verbatimSymlinks: true };
  const addClient = async () =>
    cp((await builtClient()).folder, join(modules, 'trading-graph-client'), all);
  return {
    folder,
    env,
    /** Runs a package's program that makes the folder `app`. */
    create: (script: string, ...args: readonly string[]) =>
      runIn(above, join(packages, 'node_modules', script), args),
    /** Copies the packages and the client as it is published into the app. A service in this process is not blocked. */
    async install() {
      await cp(join(packages, 'node_modules'), modules, all);
      await addClient();
    },
    /** Links the packages, which is faster. Tools then find only the linked packages. */
    async link() {
      mkdirSync(modules);
      for (const name of readdirSync(join(packages, 'node_modules'))) {
        symlinkSync(join(packages, 'node_modules', name), join(modules, name));
      }
      await addClient();
    },
    /** Runs a script of the app's packages; returns its output. */
    run: (script: string, ...args: readonly string[]) =>
      runIn(folder, join('node_modules', script), args),
    write(file: string, text: string) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    [Symbol.dispose]: () => rmSync(above, { recursive: true, force: true }),
  };
}
