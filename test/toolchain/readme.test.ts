import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withConfigurationTable } from '../../scripts/readme-configuration.ts';
import { SETTINGS } from '../../src/config/settings.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('README', () => {
  test('lists every variable as the program reads it (else: npm run docs)', () => {
    expect(withConfigurationTable(readme)).toBe(readme);
    for (const name of Object.keys(SETTINGS)) expect(readme).toContain(`| \`${name}\` |`);
  });

  test('names only commands that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const commands = [...readme.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test))/g)];
    const named = commands.map(([, run, short]) => run ?? short ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(new Set(named).size).toBeGreaterThan(4);
  });
});
