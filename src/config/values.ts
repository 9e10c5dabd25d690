import type { Setting } from './setting.ts';
import type { SETTINGS, SettingName } from './settings.ts';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

type ValueOf<Entry> = Entry extends Setting<infer T> & { readonly fallback: infer F }
  ? T | (null extends F ? null : never)
  : never;

/** The value of each variable, before those that depend on others are determined. */
export type Values = {
  readonly [Name in SettingName as CamelCase<Name>]: ValueOf<(typeof SETTINGS)[Name]>;
};

/** Converts POSITIONS_POLL_MS to positionsPollMs. */
export function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
