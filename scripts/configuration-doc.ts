import { fileVariable, mayBeFile } from '../src/config/given-value.ts';
import type { Setting } from '../src/config/setting.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { OCCASIONS } from './configuration-occasions.ts';

const START = '<!-- configuration: written by `npm run docs` -->';
const END = '<!-- /configuration -->';

/** The page with its table as it should be; the rest of the text stays. */
export function withConfigurationTable(page: string): string {
  const [before, rest, ...others] = page.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error(`docs/configuration.md must hold "${START}" and "${END}" once`);
  }
  return `${before}${START}\n\n${configurationTable()}\n${END}${after}`;
}

function configurationTable(): string {
  const rows = (Object.entries(SETTINGS) as [keyof typeof SETTINGS, Setting<unknown>][]).map(
    ([name, setting]) => {
      const means = mayBeFile(setting)
        ? `${setting.means} (secret, or \`${fileVariable(name)}\`)`
        : setting.means;
      const allowed = shortly(setting.kind.allowed);
      const cells = [
        `\`${name}\``,
        allowed === '' ? defaultOf(setting) : `${defaultOf(setting)}; ${allowed}`,
        OCCASIONS[name] ? `${means}. *When ${OCCASIONS[name]}.*` : `${means}.`,
      ];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
    },
  );
  return `| Variable | Default; allowed | Meaning; when to set it |\n|---|---|---|\n${rows.join('')}`;
}

/** A range as figures alone; nothing where any whole number from 1 on is allowed. */
function shortly(allowed: string): string {
  return allowed
    .replace(/^a whole number, 1 (?:or more|to 2147483(?:647)?)$/, '')
    .replace(/^a whole number, (\d+) to (\d+)$/, '$1–$2')
    .replace(/^a whole number, (\d+) or more$/, '≥ $1')
    .replace(/^one of /, '')
    .replace(/^`on` or `off`$/, '`on`, `off`');
}

function defaultOf({ fallback, fallbackText }: Setting<unknown>): string {
  if (fallbackText !== undefined) return fallbackText;
  if (fallback === null) return 'unset';
  if (typeof fallback === 'object' && Object.keys(fallback).length === 0) return 'none';
  if (typeof fallback === 'boolean') return fallback ? '`on`' : '`off`';
  return `\`${String(fallback)}\``;
}
