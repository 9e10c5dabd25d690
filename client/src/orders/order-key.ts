const UUID_V8 = /^([\da-f]{8})-([\da-f]{4})-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** An order's key: a UUIDv8 whose first 48 bits are the server's time in milliseconds. `id` is a random UUID. */
export function orderKey(id: string, ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-8${id.slice(15).toLowerCase()}`;
}

/** The time of a key; null if the text is no key. */
export function timeOfKey(key: string): number | null {
  const [, high, low] = UUID_V8.exec(key) ?? [];
  return high === undefined ? null : Number.parseInt(`${high}${low}`, 16);
}
