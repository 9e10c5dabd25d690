import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..', '..');
export const deployFolder = join(root, 'deploy');

export function readDeployed(...path: string[]): string {
  return readFileSync(join(deployFolder, ...path), 'utf8');
}

export function readProject(...path: string[]): string {
  return readFileSync(join(root, ...path), 'utf8');
}
