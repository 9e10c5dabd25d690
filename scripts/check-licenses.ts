// Fails if a package that is used in production has a licence that is not allowed here. With a folder as argument it checks
// the packages of that folder.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Permissive licences, which only require that their text is kept. Another licence is added only after a decision.
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
];

const [folder = join(import.meta.dirname, '..')] = process.argv.slice(2);
const inProduction = productionPackages(folder);
const problems = inProduction.flatMap(
  ([path, { optional }]) => problemOf(path, optional === true) ?? [],
);
for (const problem of problems) console.error(problem);
// An empty list would mean that the lock file is read wrongly.
process.exitCode = problems.length > 0 || inProduction.length === 0 ? 1 : 0;

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** A workspace: its folder has an entry of its own. */
  readonly link?: boolean;
}

/** The production packages in the folder's lock file, by path. */
function productionPackages(folder: string): readonly [path: string, LockedPackage][] {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && !dev && !link);
}

function problemOf(path: string, isOptional: boolean): string | null {
  const manifest = join(folder, path, 'package.json');
  if (!existsSync(manifest)) return isOptional ? null : `${path}: not installed`;
  const { license } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly license?: unknown };
  if (typeof license !== 'string') return `${path}: no licence is named in its package.json`;
  return isAllowed(license) ? null : `${path}: the licence ${license} is not allowed`;
}

/**
 * Whether one alternative of an SPDX expression is allowed as a whole. A nested expression is not allowed, so that a person
 * checks it.
 */
function isAllowed(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return alternatives.some((licenses) =>
    licenses.split(' AND ').every((name) => ALLOWED.includes(name)),
  );
}
