import { type PathValueSource, UnsafePathError } from './errors.ts';
import type { Operation } from './operations.ts';

export type PathValues = Readonly<Record<string, string>>;

type PathOperation = Pick<Operation, 'path' | 'effect'>;

/**
 * Fills in the `{name}` segments of an operation's path. Percent-encoding alone is not enough: servers and proxies
 * decode before they resolve dots, so a value that could climb is never sent.
 */
export function createPath(operation: PathOperation): (values: PathValues) => string {
  // The literal parts and the names alternate.
  const [first = '', ...rest] = operation.path.split(/\{(\w+)\}/);
  if (rest.length === 0) return () => first;
  return (values) => {
    let path = first;
    for (let index = 0; index < rest.length; index += 2) {
      const name = rest[index] ?? '';
      path += encodeSegment(operation, name, values[name] ?? '') + rest[index + 1];
    }
    return path;
  };
}

/** The parameters whose value the client does not choose; every other one is an argument of the same name. */
const SOURCES: Readonly<Record<string, PathValueSource>> = {
  login: 'token',
  group: 'token',
  provider: 'setting',
};

function unsafe({ effect }: PathOperation, name: string): UnsafePathError {
  // Mutations have one argument, `input`, whose field it is.
  const argument = effect === 'read' ? name : `input.${name}`;
  return new UnsafePathError(name, SOURCES[name] ?? { argument });
}

function encodeSegment(operation: PathOperation, name: string, value: string): string {
  if (value === '' || hasControlCharacter(value) || climbs(value)) throw unsafe(operation, name);
  try {
    return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no UTF-8 to encode.
    throw unsafe(operation, name);
  }
}

function climbs(value: string): boolean {
  return value.split(/[/\\]/).some((part) => part === '.' || part === '..');
}

function hasControlCharacter(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  }
  return false;
}
