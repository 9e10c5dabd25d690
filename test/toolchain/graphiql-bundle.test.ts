import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const COMMITTED = join(root, 'src', 'graphiql', 'bundle');
const view = ['view', 'graphiql', 'version', '--fetch-retries=0', '--fetch-timeout=10000'];
const isOffline = spawnSync('npm', view, { timeout: 60_000 }).status !== 0;

const folder = ownFolder();

describe.skipIf(isOffline)(`GraphiQL’s files${isOffline ? ' (no registry here)' : ''}`, () => {
  test('are, byte for byte, what its locked packages and src/graphiql/ make', () => {
    const made = join(folder.path, 'src', 'graphiql');
    const isCopied = (path: string) => !/^(?:node_modules|bundle)$/.test(basename(path));
    cpSync(join(root, 'src', 'graphiql'), made, { recursive: true, filter: isCopied });
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
    const install = ['ci', '--prefix', made, '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', install, { stdio: 'pipe' });
    execFileSync(process.execPath, [join(made, 'bundle.ts')], { stdio: 'pipe' });
    expect(filesIn(join(made, 'bundle'))).toEqual(filesIn(COMMITTED));
  }, 300_000);
});

/** Digests of the files by name, unpacked: another version of Node may pack the same bytes more tightly. */
function filesIn(path: string): Readonly<Record<string, string>> {
  const names = readdirSync(path).sort();
  expect(names).toContain('main.js.br');
  const digest = (name: string) => {
    const bytes = readFileSync(join(path, name));
    return hash('sha256', name.endsWith('.br') ? brotliDecompressSync(bytes) : bytes);
  };
  return Object.fromEntries(names.map((name) => [name, digest(name)]));
}
