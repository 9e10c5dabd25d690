import { createHeaderForwarding, type ForwardedHeaders } from '../lib/forwarded-headers.ts';
import { UsageError } from './command/arguments.ts';

/**
 * The forwarded headers of an account's requests, from options `--header name=value`. The records name an account by
 * these headers and no others, so any other header is refused. A value may contain `=`.
 */
export function forwardedOf(
  given: readonly string[],
  names: readonly string[],
): ForwardedHeaders | undefined {
  const pairs = given.map((each) => {
    const [name = '', value] = each.split(/=(.*)/s, 2);
    if (value === undefined || !names.includes(name.toLowerCase())) {
      throw new UsageError(
        `--header ${each} is not name=value of GATEWAY_FORWARD_HEADERS (${names.join(', ')}).`,
      );
    }
    return [name.toLowerCase(), value] as const;
  });
  return createHeaderForwarding(names).forwarded(Object.fromEntries(pairs));
}
