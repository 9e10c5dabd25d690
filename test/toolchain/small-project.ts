import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const VITEST = join(root, 'node_modules', 'vitest', 'vitest.mjs');

/** A machine without the programs that some suites need. */
export const MISSING = {
  REDIS_SERVER_PATH: '/none',
  CHROMIUM_PATH: '/none',
  PROMTOOL_PATH: '/none',
  HAPROXY_PATH: '/none',
};

/** A project with test files of its own, which are run as this project's are. */
export class SmallProject implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'small-project-'));

  /** `files` by their paths in the folder `test`. */
  constructor(files: Readonly<Record<string, string>>, config?: string) {
    symlinkSync(join(root, 'node_modules'), this.#path('node_modules'));
    cpSync(join(root, 'vitest.config.ts'), this.#path('vitest.config.ts'));
    if (config !== undefined) writeFileSync(this.#path('vitest.config.ts'), config);
    cpSync(join(root, 'test', 'support'), this.#path('test', 'support'), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.ts'),
    });
    writeFileSync(this.#path('package.json'), '{"type":"module"}');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(this.#path('test', path)), { recursive: true });
      writeFileSync(this.#path('test', path), text);
    }
  }

  run(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    return spawnSync(process.execPath, [VITEST, 'run', ...args], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, NO_COLOR: '1', ...MISSING, ...env },
      encoding: 'utf8',
    });
  }

  #path(...parts: readonly string[]): string {
    return join(this.#folder, ...parts);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}
