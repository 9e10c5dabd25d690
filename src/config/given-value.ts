import { readFileSync, statSync } from 'node:fs';
import { assertPlainFile } from '../lib/read-plain-file.ts';
import { reasonOf } from '../lib/reason-of.ts';
import type { Kind } from './kinds.ts';

/** A setting's value from the environment: the variable itself, or the file that NAME_FILE names. */
interface GivenValue {
  readonly text: string;
  readonly label: string;
  readonly isFile: boolean;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** Null if no value is set. A string explains why the value cannot be used. */
export function givenValue(
  name: string,
  kind: Kind<unknown>,
  environment: Variables,
): GivenValue | string | null {
  // Compose files and CI write an empty string for an unset variable.
  const text = environment[name] || null;
  const path = (mayBeFile(kind) && environment[fileVariable(name)]) || null;
  if (path === null) {
    const value = kind.isSecret ? ' (value not shown)' : `=${shown(text ?? '')}`;
    return text === null ? null : { text, label: `${name}${value}`, isFile: false };
  }
  const label = `${fileVariable(name)}=${shown(path)}`;
  if (text !== null) return `${label}: must be unset if ${name} is set`;
  try {
    return { text: readSecretFile(path), label, isFile: true };
  } catch (error) {
    return `${label}: must be a file that holds ${name} (${reasonOf(error)})`;
  }
}

export function mayBeFile({ isSecret, holdsPassword }: Kind<unknown>): boolean {
  return isSecret === true || holdsPassword === true;
}

export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/** Reads a secret's file without its line end. Only plain files are read: a pipe without a writer would stall the start. */
function readSecretFile(path: string): string {
  assertPlainFile(statSync(path));
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
}

const MAX_SHOWN_LENGTH = 120;

/** Quotes a value in a problem: on one line, short, without the password of a URL. */
export function shown(value: string): string {
  const clean = withoutPassword(value);
  const isLong = clean.length > MAX_SHOWN_LENGTH;
  return JSON.stringify(isLong ? `${clean.slice(0, MAX_SHOWN_LENGTH)}…` : clean);
}

export function withoutPassword(address: string): string {
  return (
    address
      // Up to the last @, because an unencoded password may contain one too.
      .replace(/^([a-z][a-z\d+.-]*:(?:\/\/)?)?[\s\S]*@/i, '$1***@')
      .replace(/\?[\s\S]*/, '?***')
  );
}
