import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A digest of all inputs of the bundle, by which a test sees that the bundle is out of date. */
export function fingerprint(): string {
  const folder = import.meta.dirname;
  const sources = ['src', 'page'].flatMap((from) =>
    readdirSync(join(folder, from))
      .filter((name) => /\.(js|css)$/.test(name))
      .sort()
      .map((name) => join(from, name)),
  );
  const files = ['bundle.ts', 'package-lock.json', ...sources];
  const texts = files.map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`);
  return hash('sha256', texts.join('\0'), 'hex');
}
