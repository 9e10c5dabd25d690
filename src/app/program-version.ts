import { readFileSync } from 'node:fs';

/** The version of this program, as its package.json says. */
export function programVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
