import { REDIS_PASSWORD } from './redis.ts';

/** A request that the gateway has received, as the sandbox shows it. */
interface Received {
  readonly body: string;
}

/** Texts that the service may never write. */
const FORBIDDEN: readonly (readonly [string, RegExp])[] = [
  // The pattern is longer than a request id, which may begin like a token by chance.
  ['a token', /eyJ[\w-]{20}/],
  ['an e-mail address', /[\w.+-]@[\w-]+\.[a-z]{2}/i],
  // The value of a metric may be such a number by chance.
  ['a login', /(?<![\w.])70000[1-8](?![\w.])(?<!^\w+(?:\{.*\})? \d+)/m],
  ['a password in an address', /:\/\/[^\s"@/]*:(?!\*)[^\s"@/]+@/],
  ['the password of Redis', new RegExp(REDIS_PASSWORD)],
];
/** The members of the gateway's requests with secrets, or with a user's own text. */
const SECRET_MEMBERS = new Set(['password', 'email', 'phone', 'address', 'token', 'comment']);
// Shorter values occur in other words by chance.
const MIN_SECRET_LENGTH = 8;
// Load tests send thousands of similar values.
const MAX_SECRETS = 50;
/** How many characters an error shows before a secret, and after its beginning. */
const EXCERPT_LENGTH = 60;

/**
 * Throws if the service's output contains a secret: text that looks like one, or a value from its requests to the gateway.
 * Each test's service is checked when it is closed.
 */
export function assertNoLeak(
  source: string,
  texts: Iterable<string>,
  received: readonly Received[] = [],
): void {
  const text = [...texts].join('\n');
  for (const [kind, pattern] of FORBIDDEN) {
    const index = text.search(pattern);
    if (index >= 0) throw new Error(`${kind} is in the ${source}: ${excerpt(text, index)}`);
  }
  for (const secret of secretsOf(received)) {
    const index = text.indexOf(secret);
    if (index >= 0) throw new Error(`"${secret}" is in the ${source}: ${excerpt(text, index)}`);
  }
}

/** The metrics before the service is closed; empty if it is closed already. */
export async function readMetrics(adminUrl: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(30_000);
    return await (await fetch(`${adminUrl}/metrics`, { signal })).text();
  } catch {
    return '';
  }
}

function secretsOf(received: readonly Received[]): Set<string> {
  const secrets = new Set<string>();
  for (const { body } of received) {
    if (secrets.size >= MAX_SECRETS) break;
    if (body === '') continue;
    try {
      JSON.parse(body, (name, value: unknown) => {
        const isSecret = SECRET_MEMBERS.has(name) && typeof value === 'string';
        if (isSecret && value.length >= MIN_SECRET_LENGTH) secrets.add(value);
        return value;
      });
    } catch {
      // Some tests send invalid JSON.
    }
  }
  return secrets;
}

function excerpt(text: string, index: number): string {
  return text.slice(Math.max(0, index - EXCERPT_LENGTH), index + EXCERPT_LENGTH);
}
