import { UnsafePathError } from './errors.ts';

/**
 * Fills in a path's `{name}` segments. Percent-encoding alone is not enough: servers and proxies
 * decode before they resolve dots, so a value that could climb is never sent.
 */
export function fillPath(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return encodeSegment(name, value);
  });
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
