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
