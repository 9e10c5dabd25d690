import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** A workspace: its folder has an entry of its own. */
  readonly link?: boolean;
}

/** What the lock file of a folder has for production, by path. */
export function productionPackages(folder: string): readonly [path: string, LockedPackage][] {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && !dev && !link);
}
