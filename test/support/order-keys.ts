import { hash } from 'node:crypto';
import { newKeyAt } from '../../src/store/order-key.ts';

const LOADED_AT_MS = Date.now();

/** A new key for an order. */
export function newKey(): string {
  return newKeyAt(Date.now());
}

/** The key with this name, made when the test was loaded, or at another time. The same name and time give the same key. */
export function keyOf(name: string, madeMs = LOADED_AT_MS): string {
  const rest = hash('sha256', name, 'hex');
  const [time, random] = [
    newKeyAt(madeMs).slice(0, 15),
    `${rest.slice(0, 3)}-8${rest.slice(3, 6)}`,
  ];
  return `${time}${random}-${rest.slice(6, 18)}`;
}

/** Keys without a time, or with one that libraries make by a device's clock. */
export const PLAIN_KEYS = [
  '',
  'k',
  '4711',
  // UUIDs of the versions 4, 7 and 1, and one that is no UUID of RFC 9562.
  '9b2b4f0e-3c1d-4a6f-8e2d-5b7c9d0a1f23',
  '01976f8e-3a2b-7c4d-9e5f-6a7b8c9d0e1f',
  '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  '01976f8e-3a2b-8c4d-1e5f-6a7b8c9d0e1f',
  '01976f8e3a2b8c4d9e5f6a7b8c9d0e1f',
  ' 01976f8e-3a2b-8c4d-9e5f-6a7b8c9d0e1f',
] as const;
