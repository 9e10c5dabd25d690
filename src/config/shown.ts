const LONGEST = 120;

/** A value as a problem's line quotes it: on one line, short, without the password of an address. */
export function shown(value: string): string {
  const clean = withoutPassword(value);
  return JSON.stringify(clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean);
}

export function withoutPassword(address: string): string {
  return (
    address
      // Up to the last @, since a password that was not encoded may hold one as well.
      .replace(/^([a-z][a-z\d+.-]*:(?:\/\/)?)?[\s\S]*@/i, '$1***@')
      .replace(/\?[\s\S]*/, '?***')
  );
}
