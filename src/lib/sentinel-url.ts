/** The Sentinels that know the present Redis primary, and the credentials for it. */
export type SentinelUrl = Readonly<NonNullable<ReturnType<typeof readSentinelUrl>>>;

const SENTINEL_URL =
  /^redis(?<tls>s?)-sentinel:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)\/(?<name>[\w.-]+)(?:\/(?<db>\d{1,5}))?(?:\?(?<query>[^#]*))?$/;
const HOST = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<host>[a-z\d.-]+))(?::(?<port>\d{1,5}))?$/i;
const PORT = 26_379;
const QUERY = ['sentinelUsername', 'sentinelPassword'];

export function isSentinelUrl(text: string): boolean {
  return /^rediss?-sentinel:/.test(text);
}

/** Reads `redis-sentinel://user:password@host:port,host:port/name/database`; null if the text is not such a URL. */
export function readSentinelUrl(text: string) {
  // Otherwise a line end would become part of a password.
  const found = /\s/.test(text) ? null : SENTINEL_URL.exec(text);
  const { tls, user, password, hosts, name, db, query } = found?.groups ?? {};
  if (hosts === undefined || name === undefined) return null;
  const sentinels = hosts.split(',').map((each) => {
    const { ipv6, host = ipv6, port = PORT } = HOST.exec(each)?.groups ?? {};
    return host === undefined || Number(port) > 65_535 ? null : { host, port: Number(port) };
  });
  const parameters = Object.fromEntries(new URLSearchParams(query));
  if (sentinels.includes(null) || Object.keys(parameters).some((key) => !QUERY.includes(key))) {
    return null;
  }
  try {
    return {
      sentinels: sentinels.filter((each) => each !== null),
      /** The name under which the Sentinels know the primary. */
      name,
      db: Number(db ?? 0),
      isEncrypted: tls === 's',
      ...(user && { username: decodeURIComponent(user) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(parameters as Partial<Record<'sentinelUsername' | 'sentinelPassword', string>>),
    };
  } catch {
    return null;
  }
}
