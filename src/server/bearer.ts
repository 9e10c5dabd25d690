/** The token of an `Authorization` value; null where there is none of the scheme. */
export function bearerToken(authorization: unknown): string | null {
  if (typeof authorization !== 'string') return null;
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}
