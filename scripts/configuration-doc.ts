import { fileVariable, mayBeFile } from '../src/config/given-value.ts';
import type { Setting } from '../src/config/kinds.ts';
import { SETTINGS, type SettingName } from '../src/config/settings.ts';
import { withPart } from './page-part.ts';

/** The settings that a production start needs first. */
const FIRST: readonly SettingName[] = [
  'GATEWAY_URL',
  'HOST',
  'ADMIN_HOST',
  'TRUSTED_PROXIES',
  'CORS_ORIGINS',
  'JWT_JWKS_URL',
  'JWT_SECRET',
  'REDIS_URL',
  'REDIS_REPLICAS',
  'ORDER_STORE',
  'LOG_ACCOUNT_KEY',
  'SHUTDOWN_DELAY_MS',
];

/** The page with its tables made again from the settings. The rest of its text is unchanged. */
export function withConfigurationTable(page: string): string {
  const remaining = (Object.keys(SETTINGS) as SettingName[]).filter(
    (name) => !FIRST.includes(name),
  );
  const note =
    'Only `GATEWAY_URL` is mandatory. Decide on each of the others: its default may not fit your deployment.';
  const first = `## For a production start\n\n${note}\n\n${table(FIRST)}`;
  const others = `## All others\n\n${table(remaining)}`;
  return withPart(page, 'configuration', `${first}\n${others}`);
}

function table(names: readonly SettingName[]): string {
  const rows = names.map((name) => {
    const setting: Setting<unknown> = SETTINGS[name];
    const { kind, text } = setting;
    const file = mayBeFile(kind) ? ` (secret, or \`${fileVariable(name)}\`)` : '';
    const allowed = shortened(kind.allowed);
    const values = allowed === '' ? defaultOf(setting) : `${defaultOf(setting)}; ${allowed}`;
    const cells = [`\`${name}\``, values, `${text}${file}.`];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  });
  return `| Variable | Default; allowed | Meaning |\n|---|---|---|\n${rows.join('')}`;
}

/** Shortens the text of a kind for the table. Empty if any whole number from 1 is allowed. */
function shortened(allowed: string): string {
  return allowed
    .replace(/^a whole number, 1 (?:or more|to 2147483(?:647)?)$/, '')
    .replace(/^a whole number, (\d+) to (\d+)$/, '$1–$2')
    .replace(/^a whole number, (\d+) or more$/, '≥ $1')
    .replace(/^one of /, '')
    .replace(/, without spaces or a line end around it$/, '')
    .replace(/^`on` or `off`$/, '`on`, `off`');
}

function defaultOf({ default: value }: Setting<unknown>): string {
  if (value === null) return 'unset';
  if (typeof value === 'object' && Object.keys(value).length === 0) return 'none';
  if (typeof value === 'boolean') return value ? '`on`' : '`off`';
  return `\`${String(value)}\``;
}
