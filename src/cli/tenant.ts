import { createHeaderForwarding, type ForwardedHeaders } from '../lib/forwarded-headers.ts';
import { UsageError } from './command/arguments.ts';

/**
 * The forwarded headers of an account's requests, from options `--header name=value`. Any other header would name another
 * account, so it is refused.
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
  return createHeaderForwarding(names).of(Object.fromEntries(pairs));
}
