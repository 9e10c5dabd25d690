import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);

/** Runs a command of an npm package of this project. */
export async function runTool(path: string, args: readonly string[], cwd = root): Promise<string> {
  const program = join(root, 'node_modules', path);
  try {
    return (await run(process.execPath, [program, ...args], { cwd, maxBuffer: 2 ** 24 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${path} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
