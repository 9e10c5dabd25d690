import { UnsafePathError } from './errors.ts';

export type PathValues = Readonly<Record<string, string>>;

/**
 * Fills in a path's `{name}` segments. Percent-encoding alone is not enough: servers and proxies
 * decode before they resolve dots, so a value that could climb is never sent.
 */
export function createPath(template: string): (values: PathValues) => string {
  // The literal parts and the names alternate.
  const [first = '', ...rest] = template.split(/\{(\w+)\}/);
  if (rest.length === 0) return () => first;
  return (values) => {
    let path = first;
    for (let index = 0; index < rest.length; index += 2) {
      const name = rest[index] ?? '';
      path += encodeSegment(name, values[name] ?? '') + rest[index + 1];
    }
    return path;
  };
}

function encodeSegment(name: string, value: string): string {
  if (value === '' || hasControlCharacter(value) || climbs(value)) throw new UnsafePathError(name);
  try {
    return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no UTF-8 to encode.
    throw new UnsafePathError(name);
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
