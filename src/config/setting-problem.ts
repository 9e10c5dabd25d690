import type { SettingName } from './settings.ts';
import { shown } from './shown.ts';

// These conditions are only known by trying.
const USABLE = {
  PORT: 'a port that is free and open to this user',
  ADMIN_PORT: 'a port that is free and open to this user',
  HOST: 'an address of this machine, or the name of one',
  ADMIN_HOST: 'an address of this machine, or the name of one',
  REDIS_URL: 'a Redis that can be used',
  ORDER_STORE: 'a file that this process can use, or the word `memory`',
  PERSISTED_DOCUMENTS: 'a manifest, or a folder of them',
} as const satisfies Partial<Record<SettingName, string>>;

/** The line for a valid value that cannot be used in this environment. */
export function settingProblem(
  name: keyof typeof USABLE,
  value: string | number,
  reason: string,
): string {
  const quoted = typeof value === 'number' ? value : shown(value);
  return `${name}=${quoted}: must be ${USABLE[name]} (${reason})`;
}
